//! Tests of reading and checking settings. Those where nothing is given are in `defaults`.

mod defaults;

use super::*;

fn sources(environment: &[(&str, &str)], file: &str) -> Sources {
    let mut sources = Sources::default();
    sources.add_environment(
        environment
            .iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
    sources.add_file("balcao.toml", file);
    sources
}

fn problems(environment: &[(&str, &str)], file: &str, purpose: Purpose) -> String {
    read(sources(environment, file), purpose)
        .settings
        .map_or_else(|problems| problems.to_string(), |_| String::new())
}

const ALL: Purpose = Purpose::Serve(Services {
    checkout: true,
    inventory: true,
});

#[test]
fn a_demo_takes_addresses_and_logs_from_outside_and_all_else_from_its_command_line_alone() {
    let mut given = sources(
        &[
            ("BALCAO_CHECKOUT_LISTEN", "127.0.0.1:2"),
            ("BALCAO_SMTP_URL", "smtp://mail.example"),
            ("BALCAO_LLM_API_KEY_FILE", "/nowhere"),
            ("BALCAO_INVENTORY_REPORT", "off"),
        ],
        "log = \"warn\"\n[inventory]\nwebhook_url = \"https://till.example\"\n",
    );
    let line = [("inventory.report".to_owned(), "weekly".to_owned())];
    given.command_line = Sources::of_process(&line, None).command_line;
    let report = read(given, Purpose::Demo);
    let settings = report.settings.unwrap();
    assert_eq!(settings.checkout_listen.port(), 2);
    assert_eq!(settings.log.0, "warn");
    assert!(settings.smtp_url.is_none() && settings.inventory_webhook_url.is_none());
    assert_eq!(settings.inventory_report, value::ReportSchedule::Weekly);
    let names = "BALCAO_INVENTORY_REPORT, BALCAO_INVENTORY_WEBHOOK_URL, BALCAO_LLM_API_KEY, BALCAO_SMTP_URL";
    assert!(report.warnings[0].contains(names), "{:?}", report.warnings);
}

#[test]
fn a_public_address_has_no_path() {
    for name in ["BALCAO_CHECKOUT_PUBLIC_URL", "BALCAO_INVENTORY_PUBLIC_URL"] {
        let found = problems(&[(name, "https://pay.example/shop")], "", ALL);
        assert!(found.contains(name), "{found}");
        let found = problems(&[(name, "https://pay.example/")], "", Purpose::Any);
        assert_eq!(found, "");
    }
}

#[test]
fn services_without_a_public_address_or_a_secret_for_notifications_are_warned_of() {
    let warned = |environment: &[(&str, &str)], purpose| {
        let warnings = read(sources(environment, ""), purpose).warnings;
        warnings.join("\n")
    };
    let said = warned(&[], ALL);
    assert!(
        said.contains("BALCAO_CHECKOUT_PUBLIC_URL is not set"),
        "{said}"
    );
    assert!(
        said.contains("BALCAO_INVENTORY_PUBLIC_URL is not set"),
        "{said}"
    );
    assert!(
        said.contains("BALCAO_CHECKOUT_PROVIDER_WEBHOOK_SECRET is not set"),
        "{said}"
    );
    let given = [
        ("BALCAO_CHECKOUT_PROVIDER_WEBHOOK_SECRET", "a secret"),
        ("BALCAO_CHECKOUT_PUBLIC_URL", "https://pay.example"),
        ("BALCAO_INVENTORY_PUBLIC_URL", "https://stock.example"),
    ];
    assert_eq!(warned(&given, ALL), "");
    assert_eq!(warned(&[], Purpose::Any), "");
}

#[test]
fn keys_that_would_cross_the_network_in_the_clear_are_warned_of() {
    let warned = |checkout: &'static str, model: &'static str| {
        let given = [
            ("BALCAO_INVENTORY_CHECKOUT_URL", checkout),
            ("BALCAO_INVENTORY_CHECKOUT_KEY", "balcao_key"),
            ("BALCAO_LLM_BASE_URL", model),
            ("BALCAO_LLM_MODEL", "small"),
            ("BALCAO_LLM_API_KEY", "sk-key"),
        ];
        let warnings = read(sources(&given, ""), ALL).warnings;
        let clear = warnings
            .iter()
            .filter(|warning| warning.contains(" is http:// and not by loopback"));
        clear.count()
    };
    assert_eq!(
        warned("http://10.0.0.5:8000", "http://models.example/v1"),
        2
    );
    assert_eq!(warned("http://127.0.0.1:8000", "http://[::1]:11434/v1"), 0);
    assert_eq!(
        warned("https://pay.example", "http://localhost:11434/v1"),
        0
    );
}

#[test]
fn a_shop_with_orders_is_advised_to_close_the_open_form() {
    let warned = |open: &str, orders: &[(&'static str, &'static str)]| {
        let given = [&[("BALCAO_CHECKOUT_OPEN_PAYMENTS", open)], orders].concat();
        let warnings = read(sources(&given, ""), ALL).warnings.join("\n");
        warnings.contains("BALCAO_CHECKOUT_OPEN_PAYMENTS is true")
    };
    let refunds = [("BALCAO_CHECKOUT_REFUND_OVERPAYMENT", "true")];
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let events = [
        ("BALCAO_CHECKOUT_WEBHOOK_URL", "https://shop.example/hooks"),
        ("BALCAO_CHECKOUT_WEBHOOK_SECRET", secret),
    ];
    let stock = [("BALCAO_ORDERS_BOOK_STOCK", "true")];
    let pages = [
        ("BALCAO_INVENTORY_CHECKOUT_URL", "https://pay.example"),
        ("BALCAO_INVENTORY_CHECKOUT_KEY", "balcao_0123456789"),
    ];
    for orders in [&refunds[..], &events, &stock, &pages] {
        assert!(warned("true", orders));
        assert!(!warned("false", orders));
    }
    assert!(!warned("true", &[]));
}

#[test]
fn the_command_line_wins_over_the_environment_and_that_over_the_file() {
    let file = "log = \"error\"\nlog_format = \"json\"\n[checkout]\nlisten = \"127.0.0.1:1\"\n";
    let mut given = sources(
        &[
            ("BALCAO_CHECKOUT_LISTEN", "127.0.0.1:2"),
            ("BALCAO_LOG", "warn"),
        ],
        file,
    );
    let line = Sources::of_process(
        &[("checkout.listen".to_owned(), "127.0.0.1:3".to_owned())],
        None,
    );
    given.command_line = line.command_line;
    let report = read(given, Purpose::Any);
    let settings = report.settings.unwrap();
    assert_eq!(settings.checkout_listen.port(), 3);
    assert_eq!(settings.log.0, "warn");
    assert_eq!(settings.log_format, value::LogFormat::Json);
}

#[test]
fn no_problem_shows_a_password_inside_an_address_nor_a_secret_given_for_its_file() {
    let environment = [
        (
            "BALCAO_CHECKOUT_PROVIDER_URL",
            "https://shop:hush@provider.example",
        ),
        (
            "BALCAO_CHECKOUT_PUBLIC_URL",
            "https://shop:hu//sh@hush@pay.example",
        ),
        ("BALCAO_INVENTORY_PUBLIC_URL", "shop:hush@stock.example"),
        ("BALCAO_LLM_BASE_URL", "https://:hush@model.example/v1"),
        (
            "BALCAO_INVENTORY_WEBHOOK_URL",
            "https://shop:hush@till.example/hooks",
        ),
        ("BALCAO_METRICS_LISTEN", "http://shop:hush@127.0.0.1:8009"),
        ("BALCAO_REDIS_URL", "http://:hush@cache.example"),
        ("BALCAO_SMTP_URL", "http://shop:hush@mail.example"),
        (
            "BALCAO_CHECKOUT_DATABASE_URL",
            "mysql://shop:hush@db.example/x",
        ),
        ("BALCAO_MAIL_FROM", "Ana <ana at shop.example>"),
        ("BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN_FILE", "hush"),
        ("BALCAO_CHECKOUT_SECRET_FILE", "/nowhere/secret"),
    ];
    let text = problems(&environment, "", Purpose::Any);
    assert!(!text.contains("hu"), "{text}");
    for shown in [
        "BALCAO_CHECKOUT_PROVIDER_URL: found \"https://********@provider.example\" (environment); allowed: an https:// address",
        "BALCAO_CHECKOUT_PUBLIC_URL: found \"https://********@pay.example\"",
        "BALCAO_INVENTORY_PUBLIC_URL: found \"********@stock.example\"",
        "BALCAO_LLM_BASE_URL: found \"https://********@model.example/v1\"",
        "BALCAO_INVENTORY_WEBHOOK_URL: found \"https://********@till.example/hooks\"",
        "BALCAO_REDIS_URL: found a value that is not shown",
        "BALCAO_MAIL_FROM: found \"Ana <ana at shop.example>\"",
        "BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN_FILE: found a value that is not shown, which cannot be read",
        "BALCAO_CHECKOUT_SECRET_FILE: found \"/nowhere/secret\", which cannot be read",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
}

#[test]
fn every_problem_is_told_at_once_with_key_found_and_allowed() {
    let environment = [
        ("BALCAO_CHECKOUT_LISTEN", "8000"),
        ("BALCAO_CHECKOUT_DATABASE_URL", "mysql://x"),
        ("BALCAO_CHECKOUT_LITSEN", "x"),
    ];
    let text = problems(
        &environment,
        "colour = \"red\"\n[inventory]\npage_size = 0\n",
        ALL,
    );
    let expected = r#"the configuration has 7 problems:
  BALCAO_CHECKOUT_LISTEN: found "8000" (environment); allowed: an IP address and a port, such as 127.0.0.1:8000; port 0 takes a free one
  BALCAO_CHECKOUT_DATABASE_URL: found a value that is not shown (environment); allowed: sqlite:PATH or postgres://[user:password@]host[:port]/database, with ?sslmode=disable, prefer or require where wanted
  BALCAO_INVENTORY_PAGE_SIZE: found "0" (configuration file); allowed: a whole number from 1 to 1000
  BALCAO_CHECKOUT_LITSEN: no such setting (environment); did you mean BALCAO_CHECKOUT_LISTEN?
  colour: no such setting (configuration file); allowed: the settings of docs/configuration.md
  BALCAO_CHECKOUT_PROVIDER_URL: not set, and checkout cannot run without it; allowed: the provider's https:// address, or http://127.0.0.1:8002 where `balcao sandbox` runs
  BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN: not set, and checkout cannot run without it; allowed: the access token from the provider's account, best in a file named by BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN_FILE"#;
    assert_eq!(text, expected);
}

#[test]
fn a_logo_that_no_page_can_show_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let found = |name: &str, content: Option<&[u8]>| {
        let path = folder.path().join(name);
        if let Some(content) = content {
            std::fs::write(&path, content).unwrap();
        }
        let given = [("BALCAO_CHECKOUT_SHOP_LOGO", path.to_str().unwrap())];
        problems(&given, "", Purpose::Any)
    };
    let large = vec![0; 256 * 1024 + 1];
    let drawing = b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
    assert_eq!(found("logo.svg", Some(drawing)), "");
    for (name, content, reason) in [
        ("none.png", None, "which cannot be read: No such file"),
        (
            "page.png",
            Some(&b"<html>"[..]),
            "which is no PNG, WebP or SVG picture;",
        ),
        ("large.png", Some(&large), "which is larger than 256 KiB;"),
    ] {
        let problem = found(name, content);
        assert!(
            problem.contains("BALCAO_CHECKOUT_SHOP_LOGO: found "),
            "{problem}"
        );
        assert!(problem.contains(reason), "{problem}");
        let allowed = "allowed: a file with a PNG, WebP or SVG picture of at most 256 KiB";
        assert!(problem.contains(allowed), "{problem}");
    }
}

#[test]
fn a_secret_comes_from_a_file_and_its_line_end_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, "hush-hush\n").unwrap();
    let given = sources(&[("BALCAO_LLM_API_KEY_FILE", path.to_str().unwrap())], "");
    let report = read(given, Purpose::Any);
    assert_eq!(
        report.settings.unwrap().llm_api_key.unwrap().expose(),
        "hush-hush"
    );
    assert!(!document::effective(&report.effective).contains("hush"));
}

#[test]
fn a_secret_is_not_shown_in_problems_and_not_taken_from_the_command_line() {
    let environment = [
        ("BALCAO_INVENTORY_TOKEN_SECRET", "hush-too-short"),
        ("BALCAO_REDIS_URL", "rediss://:hush@x"),
        ("BALCAO_CHECKOUT_API_KEYS", "hush"),
    ];
    let text = problems(&environment, "", Purpose::Any);
    assert!(text.contains("BALCAO_INVENTORY_TOKEN_SECRET: found a value that is not shown (environment); allowed: a text of at least 32 bytes"), "{text}");
    assert!(text.contains("BALCAO_REDIS_URL"), "{text}");
    assert!(text.contains("BALCAO_CHECKOUT_API_KEYS: found a value that is not shown (environment); allowed: a key of at least 16 visible ASCII characters; several by comma"), "{text}");
    assert!(!text.contains("hush"), "{text}");

    let line = Sources::of_process(&[("checkout.api_keys".to_owned(), "hush".to_owned())], None);
    let given = Sources {
        command_line: line.command_line,
        ..Sources::default()
    };
    let text = read(given, Purpose::Any).settings.unwrap_err().to_string();
    assert!(
        text.contains("BALCAO_CHECKOUT_API_KEYS: found on the command line")
            && !text.contains("hush"),
        "{text}"
    );
}

#[test]
fn a_secret_given_twice_or_in_an_unreadable_file_is_a_problem() {
    let both = [
        ("BALCAO_LLM_API_KEY", "x"),
        ("BALCAO_LLM_API_KEY_FILE", "/nowhere"),
    ];
    assert!(
        problems(&both, "", Purpose::Any)
            .contains("both BALCAO_LLM_API_KEY and BALCAO_LLM_API_KEY_FILE are set")
    );
    let unreadable = [("BALCAO_LLM_API_KEY_FILE", "/nowhere")];
    assert!(
        problems(&unreadable, "", Purpose::Any)
            .contains("BALCAO_LLM_API_KEY_FILE: found \"/nowhere\", which cannot be read")
    );
    let open = [("BALCAO_DATA_DIR_FILE", "/nowhere")];
    assert!(problems(&open, "", Purpose::Any).contains("BALCAO_DATA_DIR is no secret"));
}

#[test]
fn serving_checkout_needs_the_provider_and_serving_inventory_alone_does_not() {
    let text = problems(&[], "", ALL);
    assert!(
        text.contains("BALCAO_CHECKOUT_PROVIDER_URL: not set")
            && text.contains("BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN: not set"),
        "{text}"
    );
    assert_eq!(
        problems(
            &[],
            "",
            Purpose::Serve(Services {
                checkout: false,
                inventory: true
            })
        ),
        ""
    );
}

#[test]
fn settings_that_belong_together_are_given_together() {
    let environment = [
        ("BALCAO_TLS_CERT_FILE", "cert.pem"),
        ("BALCAO_SMTP_URL", "smtp://mail.example"),
    ];
    let text = problems(
        &environment,
        "[inventory]\npage_size = 50\nmax_page_size = 20\n",
        Purpose::Any,
    );
    for key in [
        "BALCAO_TLS_KEY_FILE",
        "BALCAO_MAIL_FROM",
        "BALCAO_INVENTORY_PAGE_SIZE: found 50",
    ] {
        assert!(text.contains(key), "{key} is missing in {text}");
    }
}

#[test]
fn what_would_fail_only_when_serving_is_a_problem_before() {
    let environment = [
        ("BALCAO_TLS_CERT_FILE", "/nowhere/cert.pem"),
        ("BALCAO_TLS_KEY_FILE", "/nowhere/key.pem"),
        ("BALCAO_ADMIN_USERNAME", "ana"),
        ("BALCAO_ADMIN_PASSWORD", "password1234"),
    ];
    let text = problems(&environment, "", ALL);
    for part in [
        "BALCAO_TLS_CERT_FILE and BALCAO_TLS_KEY_FILE: found files that cannot be used: ",
        "/nowhere/cert.pem",
        "BALCAO_ADMIN_PASSWORD: found a value that is not shown: This password is too common.",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(!text.contains("password1234"), "{text}");
    assert_eq!(problems(&environment, "", Purpose::Any), "");
    let name = [
        ("BALCAO_ADMIN_USERNAME", "ana:b"),
        ("BALCAO_ADMIN_PASSWORD", "a counter of oak"),
    ];
    let text = problems(&name, "", Purpose::Any);
    assert!(
        text.contains("BALCAO_ADMIN_USERNAME: found \"ana:b\""),
        "{text}"
    );
}

#[test]
fn alerts_need_a_mail_server_which_may_send_receipts_alone() {
    let mail = [
        ("BALCAO_SMTP_URL", "smtp://mail.example"),
        ("BALCAO_MAIL_FROM", "shop@example.com"),
    ];
    assert_eq!(problems(&mail, "", Purpose::Any), "");
    let alerts = [("BALCAO_INVENTORY_ALERT_MAIL_TO", "ana@example.com")];
    let both = [&mail[..], &alerts].concat();
    assert_eq!(problems(&both, "", Purpose::Any), "");
    let text = problems(&alerts, "", Purpose::Any);
    for (name, _) in mail {
        assert!(text.contains(&format!("{name}: not set, while")), "{text}");
    }
}

#[test]
fn orders_book_stock_where_both_services_run_and_inventory_can_be_reached() {
    let provider = [
        ("BALCAO_CHECKOUT_PROVIDER_URL", "http://127.0.0.1:8002"),
        ("BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN", "TEST-1"),
        ("BALCAO_ORDERS_BOOK_STOCK", "true"),
    ];
    assert_eq!(problems(&provider, "", ALL), "");
    let alone = Purpose::Serve(Services {
        checkout: true,
        inventory: false,
    });
    let found = problems(&provider, "", alone);
    assert!(found.contains("BALCAO_ORDERS_BOOK_STOCK: found true, while one service runs alone"));
    let tls = "tls_cert_file = \"c.pem\"\ntls_key_file = \"k.pem\"\n";
    let found = problems(&provider, tls, ALL);
    assert!(
        found.contains("together with BALCAO_INVENTORY_PUBLIC_URL"),
        "{found}"
    );
}

#[test]
fn two_services_do_not_share_an_address() {
    let environment = [
        ("BALCAO_CHECKOUT_LISTEN", "127.0.0.1:8001"),
        ("BALCAO_CHECKOUT_PROVIDER_URL", "http://127.0.0.1:8002"),
        ("BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN", "x"),
    ];
    assert!(problems(&environment, "", ALL).contains(
        "BALCAO_INVENTORY_LISTEN: found 127.0.0.1:8001, which BALCAO_CHECKOUT_LISTEN has too"
    ));
}

#[test]
fn two_services_do_not_share_a_sqlite_file_however_its_path_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| format!("sqlite:{}/{name}", folder.path().display());
    let found = |checkout: &str, inventory: &str| {
        let environment = [
            ("BALCAO_CHECKOUT_DATABASE_URL", checkout),
            ("BALCAO_INVENTORY_DATABASE_URL", inventory),
        ];
        problems(&environment, "", Purpose::Any)
    };
    for other in ["shop.sqlite", "./shop.sqlite", "../{}/shop.sqlite"] {
        let name = folder.path().file_name().unwrap().to_str().unwrap();
        let (one, other) = (path("shop.sqlite"), path(&other.replace("{}", name)));
        let expected = format!(
            "BALCAO_INVENTORY_DATABASE_URL: found {other}, which BALCAO_CHECKOUT_DATABASE_URL has too; allowed: a file of its own"
        );
        let text = found(&one, &other);
        assert!(text.contains(&expected), "{text}");
    }
    assert_eq!(
        found(&path("checkout.sqlite"), &path("inventory.sqlite")),
        ""
    );
    let shared = "postgres://shop@db.example/shop";
    assert_eq!(found(shared, shared), "");
}

#[test]
fn variables_an_orchestrator_makes_are_warned_of_only() {
    let report = read(
        sources(&[("BALCAO_PORT_8000_TCP_ADDR", "10.0.0.1")], ""),
        Purpose::Any,
    );
    assert!(report.settings.is_ok());
    assert_eq!(
        report.warnings,
        ["BALCAO_PORT_8000_TCP_ADDR: no such setting (environment), ignored"]
    );
}
