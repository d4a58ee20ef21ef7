//! Changes that nobody would make: every guard, every act and every edit, on records that are there and that are not.

use std::time::Instant;

use countersign::bounded::{Principal, Tenant};
use countersign::change::{Act, Change, Edit, Guard, Step};
use countersign::clock::Timestamp;
use countersign::item::{Attr, Item, Value};
use countersign::key::{Key, Kind};
use explorer::search::Dice;
use explorer::telling::{say, setting};
use tests::run;

use crate::both::{Both, Tables};

const KINDS: [Kind; 2] = [Kind::ledger("alpha"), Kind::consents("beta")];
/// Attributes that hold anything, or nothing.
const ANY: [Attr; 3] = ["text", "state", "flag"];
/// Attributes that hold a number, or nothing: to anything else, the database adds nothing.
const NUMBERS: [Attr; 2] = ["count", "expires_at"];

fn number(dice: &mut Dice) -> i64 {
    [-1, 0, 1, 2, 600, 1_796_083_200][dice.below(6)]
}

fn value(dice: &mut Dice) -> Value {
    match dice.below(4) {
        0 => Value::Text(["", "queued", "0", "ä#b"][dice.below(4)].to_owned()),
        1 => Value::Flag(dice.below(2) == 0),
        _ => Value::Integer(number(dice)),
    }
}

fn attr(dice: &mut Dice) -> Attr {
    let at = dice.below(ANY.len() + NUMBERS.len());
    ANY.into_iter().chain(NUMBERS).nth(at).unwrap()
}

fn value_of(dice: &mut Dice, attr: Attr) -> Value {
    if NUMBERS.contains(&attr) { Value::Integer(number(dice)) } else { value(dice) }
}

fn guard(dice: &mut Dice) -> Guard {
    let attr = attr(dice);
    match dice.below(6) {
        0 => Guard::Absent,
        1 => Guard::Present,
        2 => Guard::Is(attr, value_of(dice, attr)),
        3 => Guard::Lacks(attr),
        4 => Guard::AtLeast(attr, number(dice)),
        _ => Guard::After(attr, Timestamp::from_seconds(number(dice))),
    }
}

fn act(dice: &mut Dice) -> Act {
    match dice.below(4) {
        0 => Act::Check,
        1 => {
            let mut item = Item::new();
            for attr in ANY.into_iter().chain(NUMBERS) {
                if dice.below(2) == 0 {
                    item.insert(attr.to_owned(), value_of(dice, attr));
                }
            }
            Act::Put(item)
        }
        _ => {
            // One edit an attribute, as the product makes them: the database takes no two.
            let mut edits = vec![Edit::Set("nonce", value(dice))];
            for attr in ANY.into_iter().chain(NUMBERS) {
                match dice.below(6) {
                    0 => edits.push(Edit::Set(attr, value_of(dice, attr))),
                    1 => edits.push(Edit::Remove(attr)),
                    2 if NUMBERS.contains(&attr) => edits.push(Edit::Add(attr, number(dice))),
                    _ => {}
                }
            }
            Act::Update(edits)
        }
    }
}

fn change(dice: &mut Dice, keys: &[Key]) -> Change {
    let mut steps: Vec<Step> = Vec::new();
    for key in keys {
        if dice.below(2) == 0 {
            let act = act(dice);
            // A step that only looks has to look at something.
            let guards = usize::from(act == Act::Check) + [0, 0, 1, 2][dice.below(4)];
            let guards = (0..guards).map(|_| guard(dice)).collect();
            steps.push(Step { key: key.clone(), guards, act });
        }
    }
    Change(steps)
}

#[test]
fn whatever_change_it_is_both_make_it_or_neither_and_show_the_same_images() {
    run(async {
        let (seed, histories) =
            (setting("COUNTERSIGN_SEED").unwrap_or(20_261_201), setting("COUNTERSIGN_HISTORIES").unwrap_or(2_000));
        let began = Instant::now();
        let tables = Tables::new().await;
        let (mut done, mut lost) = (0, 0);
        for history in 0..histories {
            let why = format!("again with COUNTERSIGN_SEED={} COUNTERSIGN_HISTORIES=1", seed + history);
            let mut dice = Dice((seed + history).wrapping_mul(0x2545_f491_4f6c_dd1d));
            let tenant = Tenant::parse(&format!("t{}", seed + history)).unwrap();
            let id = |at: usize| Principal::parse(&format!("r{at}")).unwrap();
            let keys: Vec<Key> = (0..4).map(|at| KINDS[at % 2].key(&tenant, &[&id(at)])).collect();
            let mut both = Both::new(&tables);
            for _ in 0..6 {
                both.commit(&change(&mut dice, &keys), &why).await;
            }
            (done, lost) = (done + both.done, lost + both.lost);
        }
        say(&format!(
            "differential: {histories} histories from seed {seed}: {done} changes made, {lost} lost, {:.1} s",
            began.elapsed().as_secs_f64()
        ));
        assert!(histories < 100 || (done > 0 && lost > 0));
    });
}
