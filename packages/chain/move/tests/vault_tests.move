#[test_only]
extend module coffer::vault;

#[test]
fun creates() {
    let mut ctx = sui::tx_context::from_sender(@0x1);
    let v = new(vector[], false, &mut ctx);
    std::unit_test::destroy(v);
}
