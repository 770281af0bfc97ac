include!("own_product.rs");
