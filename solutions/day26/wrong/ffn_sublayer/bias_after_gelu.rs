include!("three_launches.inc");
