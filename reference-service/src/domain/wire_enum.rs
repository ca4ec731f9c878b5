//! One macro for the enums that are spelled the same in the database, on the wire and in the documentation.

/// Declares a plain enum with one word per variant, so that the spelling exists in exactly one place.
macro_rules! wire_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident { $( $(#[$variant_meta:meta])* $variant:ident => $word:literal, )+ }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $name { $( $(#[$variant_meta])* $variant, )+ }

        impl $name {
            /// Every variant, in the order of declaration.
            $vis const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

            /// The word used in the database and on the wire.
            #[must_use]
            $vis const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|one| one.as_str() == word).ok_or_else(|| {
                    let known: Vec<&str> = Self::ALL.iter().map(|one| one.as_str()).collect();
                    format!("`{word}` is none of {}", known.join(", "))
                })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                word.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use wire_enum;
