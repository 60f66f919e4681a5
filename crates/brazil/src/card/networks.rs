//! The table of card networks: prefixes, lengths, security codes and installments.
//!
//! The prefixes are those in the public lists of the provider and the networks (2026). The
//! specification requires six networks and names their limits. We chose the six.

use serde::{Deserialize, Serialize};

use super::is_luhn_valid;

/// One of the six accepted card networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Visa.
    Visa,
    /// Mastercard.
    Master,
    /// Elo.
    Elo,
    /// American Express.
    Amex,
    /// Hipercard and Hiper.
    Hipercard,
    /// Diners Club.
    Diners,
}

/// The rules of a network.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NetworkRules {
    /// The network.
    pub network: Network,
    /// The name that people know.
    pub name: &'static str,
    /// The prefixes of its numbers.
    pub prefixes: &'static [PrefixRange],
    /// The possible numbers of digits, the usual one first.
    pub lengths: &'static [usize],
    /// The number of digits of the security code.
    pub security_code_length: usize,
    /// The most installments of a payment.
    pub max_installments: u8,
}

/// An inclusive range of prefixes of one length, such as `["650031", "650033"]`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PrefixRange(pub &'static str, pub &'static str);

impl PrefixRange {
    /// The number of digits of these prefixes.
    pub const fn digits(&self) -> usize {
        self.0.len()
    }

    fn matches(&self, number: &str) -> bool {
        number
            .get(..self.digits())
            .is_some_and(|start| self.0 <= start && start <= self.1)
    }
}

impl Network {
    /// The network with the longest prefix of these digits. `None` when no prefix matches, or when
    /// there are not enough digits yet.
    pub fn of(digits: &str) -> Option<Self> {
        NETWORKS
            .iter()
            .flat_map(|rules| rules.prefixes.iter().map(move |prefix| (rules, prefix)))
            .filter(|(_, prefix)| prefix.matches(digits))
            .max_by_key(|(_, prefix)| prefix.digits())
            .map(|(rules, _)| rules.network)
    }

    /// The network of a complete card number with valid prefix, length and check digit.
    pub fn of_number(digits: &str) -> Option<Self> {
        Self::of(digits)
            .filter(|network| network.lengths().contains(&digits.len()) && is_luhn_valid(digits))
    }

    /// The network with this id.
    pub fn from_id(id: &str) -> Option<Self> {
        NETWORKS
            .iter()
            .map(|rules| rules.network)
            .find(|network| network.id() == id)
    }

    /// The provider's id of the network, such as `visa` or `master`.
    pub const fn id(self) -> &'static str {
        match self {
            Network::Visa => "visa",
            Network::Master => "master",
            Network::Elo => "elo",
            Network::Amex => "amex",
            Network::Hipercard => "hipercard",
            Network::Diners => "diners",
        }
    }

    /// The network's row in the table.
    pub const fn rules(self) -> &'static NetworkRules {
        match self {
            Network::Visa => &VISA,
            Network::Master => &MASTER,
            Network::Elo => &ELO,
            Network::Amex => &AMEX,
            Network::Hipercard => &HIPERCARD,
            Network::Diners => &DINERS,
        }
    }

    /// The possible numbers of digits of its card numbers.
    pub const fn lengths(self) -> &'static [usize] {
        self.rules().lengths
    }

    /// The number of digits of its security code.
    pub const fn security_code_length(self) -> usize {
        self.rules().security_code_length
    }

    /// The most installments of a payment.
    pub const fn max_installments(self) -> u8 {
        self.rules().max_installments
    }
}

/// The accepted networks. No two share a prefix of the same length, so the longest match is unique.
pub static NETWORKS: &[NetworkRules] = &[VISA, MASTER, ELO, AMEX, HIPERCARD, DINERS];

const VISA: NetworkRules = NetworkRules {
    network: Network::Visa,
    name: "Visa",
    prefixes: &[PrefixRange("4", "4")],
    lengths: &[16, 13, 18, 19],
    security_code_length: 3,
    max_installments: 12,
};

const MASTER: NetworkRules = NetworkRules {
    network: Network::Master,
    name: "Mastercard",
    prefixes: &[
        PrefixRange("51", "55"),
        PrefixRange("2221", "2720"),
        // This prefix is not in Mastercard's ranges, but the provider treats its test card with it
        // as Mastercard.
        PrefixRange("503143", "503143"),
    ],
    lengths: &[16],
    security_code_length: 3,
    max_installments: 12,
};

const ELO: NetworkRules = NetworkRules {
    network: Network::Elo,
    name: "Elo",
    prefixes: &[
        PrefixRange("401178", "401179"),
        PrefixRange("431274", "431274"),
        PrefixRange("438935", "438935"),
        PrefixRange("451416", "451416"),
        PrefixRange("457393", "457393"),
        PrefixRange("457631", "457632"),
        PrefixRange("504175", "504175"),
        PrefixRange("506699", "506778"),
        PrefixRange("509000", "509999"),
        PrefixRange("627780", "627780"),
        PrefixRange("636297", "636297"),
        PrefixRange("636368", "636368"),
        PrefixRange("650031", "650033"),
        PrefixRange("650035", "650051"),
        PrefixRange("650405", "650439"),
        PrefixRange("650485", "650538"),
        PrefixRange("650541", "650598"),
        PrefixRange("650700", "650718"),
        PrefixRange("650720", "650727"),
        PrefixRange("650901", "650978"),
        PrefixRange("651652", "651679"),
        PrefixRange("655000", "655019"),
        PrefixRange("655021", "655058"),
    ],
    lengths: &[16],
    security_code_length: 3,
    max_installments: 12,
};

const AMEX: NetworkRules = NetworkRules {
    network: Network::Amex,
    name: "American Express",
    prefixes: &[PrefixRange("34", "34"), PrefixRange("37", "37")],
    lengths: &[15],
    security_code_length: 4,
    max_installments: 6,
};

const HIPERCARD: NetworkRules = NetworkRules {
    network: Network::Hipercard,
    name: "Hipercard",
    prefixes: &[
        PrefixRange("606282", "606282"),
        PrefixRange("637095", "637095"),
        PrefixRange("637568", "637568"),
        PrefixRange("637599", "637599"),
        PrefixRange("637609", "637609"),
        PrefixRange("637612", "637612"),
        PrefixRange("63737423", "63737423"),
        PrefixRange("63743358", "63743358"),
        PrefixRange("3841", "3841"),
    ],
    lengths: &[16, 13, 19],
    security_code_length: 3,
    max_installments: 12,
};

const DINERS: NetworkRules = NetworkRules {
    network: Network::Diners,
    name: "Diners Club",
    prefixes: &[
        PrefixRange("300", "305"),
        PrefixRange("36", "36"),
        PrefixRange("38", "39"),
    ],
    lengths: &[14, 16, 19],
    security_code_length: 3,
    max_installments: 12,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_providers_test_cards_have_their_networks() {
        let of = |number| Network::of(number).unwrap();
        assert_eq!(of("5031433215406351"), Network::Master);
        assert_eq!(of("5480832801033311"), Network::Master);
        assert_eq!(of("4235647728025682"), Network::Visa);
        assert_eq!(of("375365153556885"), Network::Amex);
        assert_eq!(of("5067766783888311"), Network::Elo);
    }

    #[test]
    fn both_ends_of_every_range_belong_to_its_network() {
        for rules in NETWORKS {
            for PrefixRange(first, last) in rules.prefixes {
                assert_eq!(first.len(), last.len());
                assert!(first <= last);
                assert_eq!(
                    Network::of(&format!("{first}00000000")),
                    Some(rules.network)
                );
                assert_eq!(Network::of(&format!("{last}99999999")), Some(rules.network));
            }
        }
    }

    #[test]
    fn the_longest_prefix_wins() {
        assert_eq!(Network::of("4011780000000000"), Some(Network::Elo));
        assert_eq!(Network::of("4011770000000000"), Some(Network::Visa));
        assert_eq!(Network::of("3841000000000"), Some(Network::Hipercard));
        assert_eq!(Network::of("3842000000000"), Some(Network::Diners));
        assert_eq!(Network::of("2720990000000000"), Some(Network::Master));
        assert_eq!(Network::of("2721000000000000"), None);
    }

    #[test]
    fn no_prefix_of_one_length_belongs_to_two_networks() {
        for (place, rules) in NETWORKS.iter().enumerate() {
            for other in NETWORKS.iter().skip(place + 1) {
                for PrefixRange(first, last) in rules.prefixes {
                    for PrefixRange(other_first, other_last) in other.prefixes {
                        let same_length = first.len() == other_first.len();
                        let apart = last < other_first || other_last < first;
                        assert!(
                            !same_length || apart,
                            "{first}–{last}, {other_first}–{other_last}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn other_networks_and_unfinished_numbers_have_none() {
        for digits in [
            "",
            "5",
            "3",
            "6011000990139424",
            "3530111333300000",
            "6271",
            "é4",
        ] {
            assert_eq!(Network::of(digits), None, "{digits}");
        }
    }

    #[test]
    fn only_american_express_has_four_digits_and_six_installments() {
        for rules in NETWORKS {
            let amex = rules.network == Network::Amex;
            assert_eq!(rules.security_code_length, if amex { 4 } else { 3 });
            assert_eq!(rules.max_installments, if amex { 6 } else { 12 });
            assert_eq!(Network::from_id(rules.network.id()), Some(rules.network));
            assert_eq!(rules.network.rules().name, rules.name);
        }
        assert_eq!(NETWORKS.len(), 6);
    }

    #[test]
    fn the_table_serialises_for_the_pages_script() {
        let table = serde_json::to_value(NETWORKS).unwrap();
        assert_eq!(table[3]["network"], "amex");
        assert_eq!(
            table[3]["prefixes"],
            serde_json::json!([["34", "34"], ["37", "37"]])
        );
        assert_eq!(table[3]["lengths"], serde_json::json!([15]));
        assert_eq!(table[3]["max_installments"], 6);
    }
}
