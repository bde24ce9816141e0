/**
 * Seal's arithmetic on BLS12-381 in the programs, by the WebAssembly of mcl (decision 0133). It has the names and the answers of Seal's own
 * module, which computes with BigInt. To open a vault takes some 25 steps, of 10 to 40 ms each there.
 */

/** mcl's C interface, as far as it is used: the address of the answer comes first. */
interface Mcl {
  malloc(bytes: number): number;
  stackSave(): number;
  mclBn_init(curve: number, compiledFor: number): number;
  mclBn_setETHserialization(on: number): void;
  mclBn_verifyOrderG1(on: number): void;
  mclBn_verifyOrderG2(on: number): void;
  mclBn_pairing(answer: number, one: number, other: number): void;
  mclBnGT_serialize(to: number, most: number, from: number): number;
  mclBnFr_deserialize(to: number, from: number, length: number): number;
}

type Group = "G1" | "G2";
type GroupFunctions = {
  readonly [Name in `mclBn${Group}_${"add" | "sub" | "mulCT"}`]: (answer: number, one: number, other: number) => void;
} & {
  readonly [Name in `mclBn${Group}_${"deserialize" | "isZero"}`]: (
    at: number,
    from?: number,
    length?: number,
  ) => number;
} & { readonly [Name in `mclBn${Group}_serialize`]: (to: number, most: number, from: number) => number } & {
  readonly [Name in `mclBn${Group}_hashAndMapToWithDst`]: (
    answer: number,
    from: number,
    length: number,
    tag: number,
    tagLength: number,
  ) => number;
};

/** `MCL_BLS12_381`, and 10 times the words of a scalar and the words of a coordinate. */
const [CURVE, COMPILED_FOR] = [5, 46] as const;
const [SCALAR_BYTES, COORDINATE_BYTES] = [32, 48] as const;
/** In mcl's memory a point has three coordinates. */
const ROOM = { G1: 3 * COORDINATE_BYTES, G2: 6 * COORDINATE_BYTES } as const;
const COMPRESSED = { G1: COORDINATE_BYTES, G2: 2 * COORDINATE_BYTES } as const;
const GT_BYTES = 12 * COORDINATE_BYTES;
/** What Seal hashes is a tag and an identity, and has 100 to 200 bytes. */
const INPUT_BYTES = 4096;
/** More than any step uses of the stack, which has 1 MiB and grows downward. */
const STACK_BYTES = 128 * 1024;

const TAGS = {
  G1: new TextEncoder().encode("BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"),
  G2: new TextEncoder().encode("BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_"),
} as const;

const ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;

class Machine {
  readonly #mcl: GroupFunctions & Mcl;
  readonly #memory = new WebAssembly.Memory({ initial: 32 });
  /** Places of the answer, of both arguments, and of bytes that come and go. */
  readonly #answer: number;
  readonly #one: number;
  readonly #other: number;
  readonly #input: number;

  constructor(code: BufferSource) {
    const cryptoGetRandomValues = (): never => {
      throw new Error("mcl draws no random numbers here");
    };
    const imports = { env: { memory: this.#memory, cryptoGetRandomValues } };
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), imports);
    const mcl = exports as unknown as GroupFunctions & Mcl & { readonly __wasm_call_ctors?: () => void };
    mcl.__wasm_call_ctors?.();
    if (mcl.mclBn_init(CURVE, COMPILED_FOR) !== 0) throw new Error("mcl has no BLS12-381");
    mcl.mclBn_setETHserialization(1);
    // Only points of the right order are read.
    mcl.mclBn_verifyOrderG1(1);
    mcl.mclBn_verifyOrderG2(1);
    this.#mcl = mcl;
    const place = (bytes: number): number => {
      const at = mcl.malloc(bytes);
      if (at === 0) throw new Error("mcl has no memory");
      return at;
    };
    [this.#answer, this.#one, this.#other] = [place(GT_BYTES), place(GT_BYTES), place(GT_BYTES)];
    this.#input = place(INPUT_BYTES);
  }

  /** @throws Error for no such point, one of another order, or zero, which no message of Seal has. */
  read(group: Group, bytes: Uint8Array): Uint8Array {
    const invalid = `Invalid ${group} point`;
    if (bytes.length !== COMPRESSED[group]) throw new Error(invalid);
    return this.#in(() => {
      this.#put(this.#input, bytes);
      const read = this.#mcl[`mclBn${group}_deserialize`](this.#answer, this.#input, bytes.length);
      if (read !== bytes.length || this.#isZero(group, this.#answer)) throw new Error(invalid);
      return this.#take(this.#answer, ROOM[group]);
    });
  }

  write(group: Group, point: Uint8Array): Uint8Array {
    return this.#in(() => {
      this.#put(this.#one, point);
      if (this.#isZero(group, this.#one)) throw new Error("bad point: ZERO");
      const written = this.#mcl[`mclBn${group}_serialize`](this.#input, INPUT_BYTES, this.#one);
      return this.#take(this.#input, written);
    });
  }

  combine(group: Group, how: "add" | "sub", one: Uint8Array, other: Uint8Array): Uint8Array {
    return this.#in(() => {
      this.#put(this.#one, one);
      this.#put(this.#other, other);
      this.#mcl[`mclBn${group}_${how}`](this.#answer, this.#one, this.#other);
      return this.#take(this.#answer, ROOM[group]);
    });
  }

  /**
   * In constant time.
   * @throws Error for zero, as @noble/curves does.
   */
  multiply(group: Group, point: Uint8Array, scalar: Uint8Array): Uint8Array {
    return this.#in(() => {
      this.#put(this.#one, point);
      this.#put(this.#input, scalar);
      if (scalar.every((byte) => byte === 0)) throw new Error("invalid scalar: out of range");
      if (this.#mcl.mclBnFr_deserialize(this.#other, this.#input, SCALAR_BYTES) !== SCALAR_BYTES)
        throw new Error("invalid scalar: out of range");
      this.#mcl[`mclBn${group}_mulCT`](this.#answer, this.#one, this.#other);
      return this.#take(this.#answer, ROOM[group]);
    });
  }

  hash(group: Group, data: Uint8Array): Uint8Array {
    const tag = TAGS[group];
    if (data.length + tag.length > INPUT_BYTES) throw new RangeError(`at most ${INPUT_BYTES - tag.length} bytes`);
    return this.#in(() => {
      this.#put(this.#input, tag);
      this.#put(this.#input + tag.length, data);
      const hash = this.#mcl[`mclBn${group}_hashAndMapToWithDst`];
      if (hash(this.#answer, this.#input + tag.length, data.length, this.#input, tag.length) !== 0)
        throw new Error("mcl hashes nothing");
      return this.#take(this.#answer, ROOM[group]);
    });
  }

  /** The twelve coordinates, each in big-endian order, as mcl writes them. */
  pair(one: Uint8Array, other: Uint8Array): Uint8Array {
    return this.#in(() => {
      this.#put(this.#one, one);
      this.#put(this.#other, other);
      if (this.#isZero("G1", this.#one) || this.#isZero("G2", this.#other))
        throw new Error("pairing is not available for ZERO point");
      this.#mcl.mclBn_pairing(this.#answer, this.#one, this.#other);
      const written = this.#mcl.mclBnGT_serialize(this.#input, INPUT_BYTES, this.#answer);
      return this.#take(this.#input, written);
    });
  }

  #isZero(group: Group, at: number): boolean {
    return this.#mcl[`mclBn${group}_isZero`](at) !== 0;
  }

  /** Nothing stays in these places and on the stack: user keys and scalars of sessions are among it. */
  #in<Answer>(compute: () => Answer): Answer {
    try {
      return compute();
    } finally {
      for (const at of [this.#answer, this.#one, this.#other])
        new Uint8Array(this.#memory.buffer, at, GT_BYTES).fill(0);
      new Uint8Array(this.#memory.buffer, this.#input, INPUT_BYTES).fill(0);
      new Uint8Array(this.#memory.buffer, this.#mcl.stackSave() - STACK_BYTES, STACK_BYTES).fill(0);
    }
  }

  #put(at: number, bytes: Uint8Array): void {
    new Uint8Array(this.#memory.buffer, at, bytes.length).set(bytes);
  }

  #take(at: number, bytes: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, at, bytes).slice();
  }
}

/** Seal's classes; `code` is mcl's WebAssembly, which is compiled at the first use. */
export function bls12381Of(code: BufferSource) {
  let opened: Machine | undefined;
  const machine = (): Machine => (opened ??= new Machine(code));

  class G2Element extends elementsOf("G2", machine) {}

  class G1Element extends elementsOf("G1", machine) {
    pairing(other: G2Element): GTElement {
      return new GTElement(machine().pair(this.point, other.point));
    }
  }

  return { G1Element, G2Element, Scalar };
}

type Made<One> = new (point: Uint8Array) => One;

/** What points of both groups can do. */
const elementsOf = (group: Group, machine: () => Machine) =>
  class Element {
    static readonly SIZE = COMPRESSED[group];
    readonly point: Uint8Array;

    constructor(point: Uint8Array) {
      this.point = point;
    }

    static generator<One extends Element>(this: Made<One>): One {
      return new this(machine().read(group, BASE[group]));
    }

    static fromBytes<One extends Element>(this: Made<One>, bytes: Uint8Array): One {
      return new this(machine().read(group, bytes));
    }

    static hashToCurve<One extends Element>(this: Made<One>, data: Uint8Array): One {
      return new this(machine().hash(group, data));
    }

    toBytes(): Uint8Array {
      return machine().write(group, this.point);
    }

    multiply(scalar: Scalar): this {
      return this.#with(machine().multiply(group, this.point, scalar.toBytes()));
    }

    add(other: this): this {
      return this.#with(machine().combine(group, "add", this.point, other.point));
    }

    subtract(other: this): this {
      return this.#with(machine().combine(group, "sub", this.point, other.point));
    }

    equals(other: this): boolean {
      return Buffer.compare(this.toBytes(), other.toBytes()) === 0;
    }

    #with(point: Uint8Array): this {
      return new (this.constructor as Made<this>)(point);
    }
  };

class Scalar {
  static readonly SIZE = SCALAR_BYTES;
  readonly #bytes: Uint8Array;

  private constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  static fromBigint(scalar: bigint): Scalar {
    if (scalar < 0n || scalar >= ORDER) throw new Error("Scalar out of range");
    return new Scalar(Buffer.from(scalar.toString(16).padStart(2 * SCALAR_BYTES, "0"), "hex"));
  }

  /** From 1 to the order less 1, of 128 bits more than it has, so that none is likelier (FIPS 186-5, A.3.1). */
  static random(): Scalar {
    const drawn = crypto.getRandomValues(new Uint8Array(SCALAR_BYTES + 16));
    return Scalar.fromBigint((numberOf(drawn) % (ORDER - 1n)) + 1n);
  }

  static fromBytes(bytes: Uint8Array): Scalar {
    if (bytes.length !== SCALAR_BYTES) throw new Error("Invalid scalar length");
    return Scalar.fromBigint(numberOf(bytes));
  }

  static fromBytesLE(bytes: Uint8Array): Scalar {
    return Scalar.fromBytes(bytes.toReversed());
  }

  toBytes(): Uint8Array {
    return this.#bytes.slice();
  }
}

const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);

class GTElement {
  static readonly SIZE = GT_BYTES;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** mcl writes the second coordinate of a pair first. Seal takes the pairs in another order. */
  toBytes(): Uint8Array {
    const coordinate = (at: number) => this.#bytes.subarray(at * COORDINATE_BYTES, (at + 1) * COORDINATE_BYTES);
    return new Uint8Array(
      Buffer.concat([0, 3, 1, 4, 2, 5].flatMap((pair) => [coordinate(2 * pair + 1), coordinate(2 * pair)])),
    );
  }

  equals(other: GTElement): boolean {
    return Buffer.compare(this.#bytes, other.#bytes) === 0;
  }
}

/** The generators, compressed (the curve's specification, in its ciphersuites). */
const BASE = {
  G1: Buffer.from(
    "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb",
    "hex",
  ),
  G2: Buffer.from(
    "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e" +
      "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8",
    "hex",
  ),
} as const;
