//! A session ends at its absolute limit, although it is used.

use inventory::Config;

use crate::{app::app_on_both_engines, sessions::DAY, visitor::redirects};

app_on_both_engines!(
    a_session_ends_a_month_after_it_began_however_often_it_is_used,
    async |app| {
        let visitor = app.logged_in("admin").await;
        for _ in 1..30 {
            app.clock.advance(DAY);
            assert_eq!(visitor.get("/").await.status, 200);
        }
        app.clock.advance(DAY);
        redirects(&visitor.get("/").await, "/login/?next=/");
    }
);

app_on_both_engines!(
    a_shorter_end_of_sessions_holds_for_those_that_run,
    async |app| {
        let visitor = app.logged_in("admin").await;
        let config = Config {
            session_lifetime: DAY,
            ..app.state.config.clone()
        };
        let restarted = app.restarted(config).await;
        let session = visitor.cookie("sessionid").unwrap();
        let visitor = restarted.visitor();
        visitor.set_cookie("sessionid", &session);
        assert_eq!(visitor.get("/").await.status, 200);
        app.clock.advance(DAY);
        redirects(&visitor.get("/").await, "/login/?next=/");
    }
);
