//! Small collections in the order of their keys. `BTreeMap` and `BTreeSet` would make the worker an
//! eighth larger.

#[derive(Debug)]
pub(crate) struct SmallMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord + Copy, V> SmallMap<K, V> {
    pub(crate) fn insert(&mut self, key: K, value: V) {
        match self.position(key) {
            Ok(index) => self.0[index].1 = value,
            Err(index) => self.0.insert(index, (key, value)),
        }
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        self.position(key).ok().map(|index| self.0.remove(index).1)
    }

    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.position(key).ok().map(|index| &self.0[index].1)
    }

    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.position(key).ok().map(|index| &mut self.0[index].1)
    }

    pub(crate) fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let index = self.position(key).unwrap_or_else(|index| {
            self.0.insert(index, (key, V::default()));
            index
        });
        &mut self.0[index].1
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> {
        self.0.iter().map(|(key, value)| (*key, value))
    }

    /// Removes the entries that `is_kept` refuses, and returns their keys.
    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(K, &V) -> bool) -> Vec<K> {
        let gone = self.0.extract_if(.., |(key, value)| !is_kept(*key, value));
        gone.map(|(key, _)| key).collect()
    }

    fn position(&self, key: K) -> Result<usize, usize> {
        self.0.binary_search_by_key(&key, |(key, _)| *key)
    }
}

#[derive(Debug)]
pub(crate) struct SmallSet<T>(Vec<T>);

impl<T> Default for SmallSet<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Ord + Copy> SmallSet<T> {
    pub(crate) fn insert(&mut self, item: T) {
        if let Err(index) = self.0.binary_search(&item) {
            self.0.insert(index, item);
        }
    }

    /// Removes an item. Returns true if it was there.
    pub(crate) fn remove(&mut self, item: T) -> bool {
        let position = self.0.binary_search(&item);
        position.map(|index| self.0.remove(index)).is_ok()
    }

    pub(crate) fn contains(&self, item: T) -> bool {
        self.0.binary_search(&item).is_ok()
    }

    pub(crate) fn extend(&mut self, items: impl IntoIterator<Item = T>) {
        items.into_iter().for_each(|item| self.insert(item));
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// Removes and returns all items.
    pub(crate) fn take(&mut self) -> Vec<T> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_keeps_one_value_for_a_key_in_order() {
        let mut map = SmallMap::default();
        for (key, value) in [(3, "c"), (1, "a"), (2, "?"), (2, "b")] {
            map.insert(key, value);
        }
        assert_eq!(map.iter().collect::<Vec<_>>(), [(1, &"a"), (2, &"b"), (3, &"c")]);
        assert_eq!((map.remove(1), map.remove(1)), (Some("a"), None));
        assert_eq!((map.get(1), map.get(2)), (None, Some(&"b")));
        *map.get_or_default(0) = "z";
        assert_eq!(map.retain(|_, value| *value == "c"), [0, 2]);
        assert_eq!(map.get_mut(3).copied(), Some("c"));
    }

    #[test]
    fn a_set_keeps_each_thing_once_in_order() {
        let mut set = SmallSet::default();
        set.extend([2, 1, 2]);
        assert_eq!(set.as_slice(), [1, 2]);
        assert!(set.contains(2) && set.remove(2) && !set.remove(2) && !set.contains(2));
        assert_eq!((set.take(), set.take()), (vec![1], vec![]));
    }
}
