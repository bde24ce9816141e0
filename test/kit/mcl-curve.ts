/** The module `bls12381` of `@mysten/seal`, with the same answers, by mcl's WebAssembly. Hashing to the curve is left to `@noble/curves`. */
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { memoize } from "../../dev/localnet/src/key-servers/memoize.ts";
import mcl, { type Fr, type G1, type G2, type GT } from "mcl-wasm";

await mcl.init(mcl.BLS12_381);
mcl.setETHserialization(true);
mcl.verifyOrderG1(true);
mcl.verifyOrderG2(true);

const { ORDER } = bls12_381.fields.Fr;
const COORDINATE_BYTES = 48;
/** An identity is hashed again and again: for each key server and with each decryption. */
const hashToG1 = memoize(
  (data: Uint8Array) => bls12_381.G1.hashToCurve(data).toBytes(),
  (data) => Buffer.from(data).toString("hex"),
);

abstract class Element<Point extends G1 | G2> {
  readonly point: Point;

  constructor(point: Point) {
    this.point = point;
  }

  toBytes(): Uint8Array {
    return this.point.serialize();
  }

  equals(other: this): boolean {
    return this.point.isEqual(other.point as never);
  }
}

export class G1Element extends Element<G1> {
  static readonly SIZE = COORDINATE_BYTES;

  static generator(): G1Element {
    return G1Element.fromBytes(bls12_381.G1.Point.BASE.toBytes());
  }

  static fromBytes(bytes: Uint8Array): G1Element {
    return new G1Element(readPoint(new mcl.G1(), bytes, "Invalid G1 point"));
  }

  static hashToCurve(data: Uint8Array): G1Element {
    return G1Element.fromBytes(hashToG1(data));
  }

  multiply({ element }: Scalar): G1Element {
    return new G1Element(mcl.mul(this.point, element));
  }

  add(other: G1Element): G1Element {
    return new G1Element(mcl.add(this.point, other.point));
  }

  subtract(other: G1Element): G1Element {
    return new G1Element(mcl.sub(this.point, other.point));
  }

  pairing(other: G2Element): GTElement {
    return new GTElement(mcl.pairing(this.point, other.point));
  }
}

export class G2Element extends Element<G2> {
  static readonly SIZE = 2 * COORDINATE_BYTES;

  static generator(): G2Element {
    return G2Element.fromBytes(bls12_381.G2.Point.BASE.toBytes());
  }

  static fromBytes(bytes: Uint8Array): G2Element {
    return new G2Element(readPoint(new mcl.G2(), bytes, "Invalid G2 point"));
  }

  static hashToCurve(data: Uint8Array): G2Element {
    return G2Element.fromBytes(bls12_381.G2.hashToCurve(data).toBytes());
  }

  multiply({ element }: Scalar): G2Element {
    return new G2Element(mcl.mul(this.point, element));
  }

  add(other: G2Element): G2Element {
    return new G2Element(mcl.add(this.point, other.point));
  }

  subtract(other: G2Element): G2Element {
    return new G2Element(mcl.sub(this.point, other.point));
  }
}

class GTElement {
  static readonly SIZE = 12 * COORDINATE_BYTES;
  readonly #element: GT;

  constructor(element: GT) {
    this.#element = element;
  }

  /** mcl writes the second coordinate of a pair first. Seal takes the pairs in another order. */
  toBytes(): Uint8Array {
    const bytes = this.#element.serialize();
    const coordinate = (at: number) => bytes.subarray(at * COORDINATE_BYTES, (at + 1) * COORDINATE_BYTES);
    return new Uint8Array(
      Buffer.concat([0, 3, 1, 4, 2, 5].flatMap((pair) => [coordinate(2 * pair + 1), coordinate(2 * pair)])),
    );
  }

  equals(other: GTElement): boolean {
    return this.#element.isEqual(other.#element);
  }
}

export class Scalar {
  static readonly SIZE = 32;
  readonly scalar: bigint;

  constructor(scalar: bigint) {
    this.scalar = scalar;
  }

  get element(): Fr {
    if (this.scalar === 0n) throw new Error("invalid scalar: out of range");
    const element = new mcl.Fr();
    element.deserialize(this.toBytes());
    return element;
  }

  static fromBigint(scalar: bigint): Scalar {
    if (scalar < 0n || scalar >= ORDER) throw new Error("Scalar out of range");
    return new Scalar(scalar);
  }

  static random(): Scalar {
    return Scalar.fromBytes(bls12_381.utils.randomSecretKey());
  }

  static fromBytes(bytes: Uint8Array): Scalar {
    if (bytes.length !== Scalar.SIZE) throw new Error("Invalid scalar length");
    return Scalar.fromBigint(BigInt(`0x${Buffer.from(bytes).toString("hex")}`));
  }

  static fromBytesLE(bytes: Uint8Array): Scalar {
    return Scalar.fromBytes(bytes.toReversed());
  }

  toBytes(): Uint8Array {
    return Buffer.from(this.scalar.toString(16).padStart(2 * Scalar.SIZE, "0"), "hex");
  }
}

function readPoint<Point extends G1 | G2>(point: Point, bytes: Uint8Array, problem: string): Point {
  try {
    point.deserialize(bytes);
  } catch {
    throw new Error(problem);
  }
  if (point.isZero()) throw new Error(problem);
  return point;
}
