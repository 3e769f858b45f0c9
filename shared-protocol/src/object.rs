//! JSON objects that keep the fields they do not know.
//!
//! `#[serde(flatten)]` would do the same with less code, but it buffers, and neither raw JSON nor a
//! JavaScript value survives serde's buffer (serde-rs/json#497). So the map is read by hand, once,
//! in the macro below.

/// Fields of an object that this version has no name for, in the order they came.
#[derive(Debug, Clone, PartialEq)]
pub struct Extra<P>(pub Vec<(String, P)>);

impl<P> Default for Extra<P> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Declares a struct that is a JSON object on the wire.
///
/// Each field says how it behaves when it is absent: `required` fails, `default` takes the type's
/// default, `optional` is an `Option` and is left out again when written.
macro_rules! wire_object {
    (
        $(#[$doc:meta])*
        pub struct $name:ident {
            $( $(#[$field_doc:meta])* $kind:ident $key:literal $field:ident : $type:ty, )*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name<P> {
            $( $(#[$field_doc])* pub $field: $type, )*
            /// Fields that this version does not know.
            pub extra: $crate::object::Extra<P>,
        }

        impl<'de, P: serde::Deserialize<'de>> serde::Deserialize<'de> for $name<P> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields<P>(std::marker::PhantomData<P>);

                impl<'de, P: serde::Deserialize<'de>> serde::de::Visitor<'de> for Fields<P> {
                    type Value = $name<P>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("the object ", stringify!($name)))
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<Self::Value, A::Error> {
                        $( let mut $field: Option<$type> = None; )*
                        let mut extra = Vec::new();
                        while let Some(key) = map.next_key::<String>()? {
                            match key.as_str() {
                                $( $key => $field = map.next_value()?, )*
                                _ => extra.push((key, map.next_value()?)),
                            }
                        }
                        Ok($name {
                            $( $field: wire_object!(@absent $kind $key $field), )*
                            extra: $crate::object::Extra(extra),
                        })
                    }
                }

                deserializer.deserialize_map(Fields(std::marker::PhantomData))
            }
        }

        impl<P: serde::Serialize> serde::Serialize for $name<P> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $( wire_object!(@write $kind $key (&self.$field) map); )*
                for (key, value) in &self.extra.0 {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    };

    (@absent required $key:literal $field:ident) => {
        $field.ok_or_else(|| serde::de::Error::missing_field($key))?
    };
    (@absent $kind:ident $key:literal $field:ident) => { $field.unwrap_or_default() };

    (@write optional $key:literal ($value:expr) $map:ident) => {
        if let Some(value) = $value {
            $map.serialize_entry($key, value)?;
        }
    };
    (@write $kind:ident $key:literal ($value:expr) $map:ident) => {
        $map.serialize_entry($key, $value)?;
    };
}
