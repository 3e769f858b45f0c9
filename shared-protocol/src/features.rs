//! What an extension understands, derived once from how it introduces itself.
//!
//! Extensions in the field are older or newer than the relay. What not every one of them
//! understands is a [`Feature`]; a message that needs one holds an [`Understood`], which only the
//! [`Features`] of a peer give out. So no code can send it to a peer without asking first.

use crate::hello::ExtensionHello;

/// Something that not every extension understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Feature {
    /// `createInitialTab`
    InitialTab,
    /// Says `ready` when it has announced all its tabs.
    InventoryReady,
    /// `setWindowMode`
    WindowMode,
    /// `getWindow`, `setWindow` and `activateTab`
    Windows,
    /// `setPermissions`
    Permissions,
    /// `findDownload` and `cancelDownload`
    Downloads,
    /// `setNotice`
    Notices,
    /// `callCookies`
    Cookies,
    /// Can prove that it is this user's; see [`pairing`](crate::pairing).
    Pairing,
    /// `blankTab` and `closeTab`
    RestrictedTabs,
}

/// A set of [`Feature`]s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Features(u32);

const _: () = assert!(Feature::ALL.len() <= 32, "each has a bit");

/// Shows that a peer understands the [`Feature`] with this number. Part of every message that needs
/// one, and not to be had but from [`Features::proof`], or by reading a message:
///
/// ```compile_fail
/// let forged = shared_protocol::Understood::<5>(());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Understood<const FEATURE: u8>(());

/// The first two numbers of a version.
type Release = (u32, u32);

/// Where our versions begin: above all those that were released before.
const OURS_SINCE: Release = (1, 0);

impl Feature {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::InitialTab,
        Self::InventoryReady,
        Self::WindowMode,
        Self::Windows,
        Self::Permissions,
        Self::Downloads,
        Self::Notices,
        Self::Cookies,
        Self::Pairing,
        Self::RestrictedTabs,
    ];

    /// The word by which an extension says that it has it. The others are told by their version.
    #[must_use]
    pub const fn capability(self) -> Option<&'static str> {
        match self {
            Self::InitialTab => None,
            Self::InventoryReady => Some("inventory-ready-v1"),
            Self::WindowMode => Some("window-mode-v1"),
            Self::Windows => Some("windows-v1"),
            Self::Permissions => Some("permissions-v1"),
            Self::Downloads => Some("downloads-v1"),
            Self::Notices => Some("notices-v1"),
            Self::Cookies => Some("cookies-v1"),
            Self::Pairing => Some("pairing-v1"),
            Self::RestrictedTabs => Some("restricted-tabs-v1"),
        }
    }

    /// What a user calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InitialTab => "a first tab",
            Self::InventoryReady => "a list of its tabs",
            Self::WindowMode => "a separate window",
            Self::Windows => "window bounds",
            Self::Permissions => "permissions",
            Self::Downloads => "downloads",
            Self::Notices => "notices",
            Self::Cookies => "cookies without a tab",
            Self::Pairing => "pairing",
            Self::RestrictedTabs => "tabs that show a warning",
        }
    }

    /// The first version of ours that has it.
    const fn since(self) -> Option<Release> {
        match self {
            // The first versions of ours do not have it: only those that say so.
            Self::Pairing | Self::RestrictedTabs => None,
            Self::InitialTab
            | Self::InventoryReady
            | Self::WindowMode
            | Self::Windows
            | Self::Permissions
            | Self::Downloads
            | Self::Notices
            | Self::Cookies => Some(OURS_SINCE),
        }
    }

    /// All capabilities there are, as an extension that has them says it.
    #[must_use]
    pub fn capabilities() -> String {
        let words: Vec<&str> = Self::ALL.into_iter().filter_map(Self::capability).collect();
        words.join(",")
    }
}

impl Features {
    /// What the extension that introduces itself like this understands.
    ///
    /// What a version means is known of those in the field. A newer one understands at least as
    /// much; what an older one has beyond, it says by capabilities.
    #[must_use]
    pub fn of(hello: &ExtensionHello) -> Self {
        let version = hello.version.as_deref().filter(|version| !version.is_empty());
        let release = version.and_then(release);
        let told = |feature: Feature| {
            let from_before_ours = match feature {
                // The first extension that told its version understood these already.
                Feature::InitialTab => version.is_some(),
                Feature::InventoryReady
                | Feature::WindowMode
                | Feature::Windows
                | Feature::Permissions
                | Feature::Downloads
                | Feature::Notices
                | Feature::Cookies
                | Feature::Pairing
                | Feature::RestrictedTabs => false,
            };
            from_before_ours
                || feature.since().is_some_and(|since| release >= Some(since))
                || feature.capability().is_some_and(|word| says(hello, word))
        };
        let mut features = Self::default();
        for feature in Feature::ALL.into_iter().filter(|feature| told(*feature)) {
            features.insert(feature);
        }
        features
    }

    /// Whether a feature is in the set.
    #[must_use]
    pub const fn has(self, feature: Feature) -> bool {
        self.0 & bit(feature) != 0
    }

    /// Adds a feature; tells whether it is new.
    pub fn insert(&mut self, feature: Feature) -> bool {
        let is_new = !self.has(feature);
        self.0 |= bit(feature);
        is_new
    }

    /// Those that are in no other set.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Those in the set.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.into_iter().filter(move |feature| self.has(*feature))
    }

    /// What a message that needs a feature must show. Which one is the message's to say.
    #[must_use]
    pub fn proof<const FEATURE: u8>(self) -> Option<Understood<FEATURE>> {
        self.has(Understood::<FEATURE>::FEATURE?).then_some(Understood(()))
    }
}

impl<const FEATURE: u8> Understood<FEATURE> {
    /// What is understood.
    pub const FEATURE: Option<Feature> = if (FEATURE as usize) < Feature::ALL.len() {
        Some(Feature::ALL[FEATURE as usize])
    } else {
        None
    };

    /// Whoever has read a message understands it.
    pub(crate) const BY_READER: Self = Self(());
}

const fn bit(feature: Feature) -> u32 {
    1 << feature as u8
}

fn says(hello: &ExtensionHello, capability: &str) -> bool {
    let capabilities = hello.capabilities.as_deref().unwrap_or_default();
    capabilities.split(',').any(|known| known.trim() == capability)
}

/// Chrome takes versions of a single number, too.
fn release(version: &str) -> Option<Release> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next().unwrap_or(Some(0))?))
}
