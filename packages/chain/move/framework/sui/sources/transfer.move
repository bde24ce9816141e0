/// The part of `sui::transfer` that the vault uses, after the public reference of the Sui framework.
module sui::transfer;

public fun share_object<T: key>(obj: T) {
    share_object_impl(obj)
}

public(package) native fun share_object_impl<T: key>(obj: T);
