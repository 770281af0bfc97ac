include!("a_warp_a_row.inc");
