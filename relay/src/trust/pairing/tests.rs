use super::*;

#[test]
fn a_folder_keeps_its_key_until_the_secret_changes() {
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, folder) = (home.path(), folder.path());
    assert!(!is_paired(home, folder));
    let first = pair(home, folder, 19988).unwrap();
    assert!(first.is_new && is_paired(home, folder));
    let text = fs::read(folder.join(FILE)).unwrap();
    assert_eq!(pair(home, folder, 19988).unwrap(), PairedFolder { is_new: false, ..first });
    assert_eq!(fs::read(folder.join(FILE)).unwrap(), text, "nothing is written");
    let moved = pair(home, folder, 7).unwrap();
    assert_eq!((moved.kid, moved.is_new), (first.kid, true), "another port, the same key");
    let mode = fs::metadata(folder.join(FILE)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode, others_can_read(folder)), (0o600, false));
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "nothing unfinished is left");

    assert_eq!(rotate(home).unwrap(), [folder]);
    assert!(is_paired(home, folder));
    assert_ne!(key_of(folder), Some(first.kid));
    assert_eq!(look_up(home, first.kid), None, "the old key is worth nothing");
    assert_eq!(read(folder).unwrap().port, Some(7));
}

#[test]
fn a_damaged_file_gets_a_new_key() {
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = pair(home.path(), folder.path(), 7).unwrap();
    for damaged in ["", "{", r#"{"v":1}"#] {
        fs::write(folder.path().join(FILE), damaged).unwrap();
        assert!(!is_paired(home.path(), folder.path()));
        let again = pair(home.path(), folder.path(), 7).unwrap();
        assert!(again.is_new && again.kid != first.kid);
    }
}

#[test]
fn a_revoked_key_and_a_foreign_one_are_not_known() {
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let kid = pair(home.path(), folder.path(), 7).unwrap().kid;
    assert!(matches!(look_up(home.path(), kid), Some(Known::Key(_))));
    pair(other.path(), tempfile::tempdir().unwrap().path(), 7).unwrap();
    assert_eq!(look_up(other.path(), kid), None, "another user's secret");
    assert_eq!(look_up(home.path(), KeyId([0; 8])), None, "nobody's");
    assert!(is_still_known(home.path(), kid));
    forget(home.path(), kid).unwrap();
    forget(home.path(), kid).unwrap();
    assert_eq!(look_up(home.path(), kid), None);
    assert!(!is_still_known(home.path(), kid));
    let again = pair(home.path(), folder.path(), 7).unwrap();
    assert_ne!(again.kid, kid, "the folder gets another one");
    fs::write(home.path().join("revoked"), [0xff, 0xfe]).unwrap();
    assert_eq!(look_up(home.path(), again.kid), None, "a list that cannot be read");
}

#[test]
fn a_code_is_good_once_and_for_ten_minutes() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let kid = |code: &PairingCode| {
        let files = fs::read_dir(home.join("codes")).unwrap();
        assert!(!files.into_iter().any(|it| {
            fs::read_to_string(it.unwrap().path()).unwrap().contains(&code.to_string())
        }));
        let newest = fs::read_dir(home.join("codes")).unwrap().map(|it| it.unwrap().path());
        let newest = newest.max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
        newest.unwrap().file_name().unwrap().to_str().unwrap().parse::<KeyId>().unwrap()
    };
    let first = kid(&make_code(home).unwrap());
    assert!(matches!(look_up(home, first), Some(Known::Code(_))));
    let given = give_key(home, first).unwrap();
    assert_eq!(look_up(home, given.kid), Some(Known::Key(given.key)));
    assert_eq!(look_up(home, first), None);
    assert_eq!(give_key(home, first), None);

    let second = kid(&make_code(home).unwrap());
    let file = fs::File::options().write(true).open(home.join("codes").join(second.to_string()));
    let made = file.as_ref().unwrap().metadata().unwrap().modified().unwrap();
    file.unwrap().set_modified(made - CODE_LASTS).unwrap();
    assert_eq!((look_up(home, second), give_key(home, second)), (None, None));
    for _ in 0..40 {
        make_code(home).unwrap();
    }
    assert_eq!(fs::read_dir(home.join("codes")).unwrap().count(), 16);
}

#[test]
fn a_proven_extension_must_prove_itself_until_its_folder_is_unpaired() {
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, folder) = (home.path(), folder.path());
    let kid = pair(home, folder, 7).unwrap().kid;
    assert!(!is_proven(home, "a"));
    for id in ["a", "b", "", "with space"] {
        remember_proven(home, id, kid).unwrap();
    }
    assert!(is_proven(home, "a") && is_proven(home, "b"));
    assert!(!is_proven(home, "") && !is_proven(home, "with space"));
    remember_proven(home, "b", KeyId([0; 8])).unwrap();
    unpair(home, folder).unwrap();
    assert!(!is_proven(home, "a") && is_proven(home, "b"), "only those of its key");
    assert_eq!(look_up(home, kid), None);
    assert!(rotate(home).unwrap().is_empty(), "it gets no key by itself");
    assert!(read(folder).unwrap().unpaired);
    for number in 0..300 {
        remember_proven(home, &format!("i{number}"), kid).unwrap();
    }
    assert!(!is_proven(home, "i43") && is_proven(home, "i44") && is_proven(home, "i299"));
}
