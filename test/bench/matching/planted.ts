import type { MatchField, MatchRecord } from '../../../integrations/analysis/matching/matching.types.ts';
import { mulberry32 } from '../landscape/random.ts';
import { type Judged, pairKey } from './judged.ts';
import otherwise from './planted.otherwise.json' with { type: 'json' };

/** Made-up names of a kind, and what happens to their copies. */
interface Kind {
  name: string;
  fields: MatchField[];
  make(random: Random, id: string, at: number): MatchRecord;
  /** A copy as another person would have written it. */
  copy(random: Random, record: MatchRecord, id: string): MatchRecord;
  /** Two things that are only called nearly the same: versions, environments, regions. */
  variants?(random: Random, record: MatchRecord, id: string): [MatchRecord, MatchRecord];
}

/** Numbers in 0..1, the same for the same seed. */
export class Random {
  readonly next: () => number;

  constructor(seed: number) {
    this.next = mulberry32(seed);
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  happens(share: number): boolean {
    return this.next() < share;
  }

  of<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  /** A word that nobody knows, of two to four syllables. */
  word(): string {
    const syllables = Array.from({ length: 2 + this.below(3) }, () => this.of(ONSETS) + this.of(VOWELS));
    const word = syllables.join('') + this.of(ENDS);
    return word[0]!.toUpperCase() + word.slice(1);
  }

  /** The text with one letter left out, doubled or swapped with the next. */
  misspelt(text: string): string {
    if (text.length < 4) return text;
    const at = 1 + this.below(text.length - 2);
    const [before, here, after] = [text.slice(0, at), text[at]!, text.slice(at + 1)];
    return this.of([
      before + after,
      `${before}${here}${here}${after}`,
      `${before}${after[0]}${here}${after.slice(1)}`,
    ]);
  }
}

const split = (text: string): string[] => text.split(' ');
const ONSETS = split('b br c d dr f g gl h k l m n p pr r s st t tr v w z');
const VOWELS = split('a e i o u ei ou ia');
const ENDS = ['', '', 'n', 'r', 's', 'x', 'l', 'nd'];
const FUNCTIONS = split(
  'Payroll Billing Claims Orders Stock Freight Pricing Risk Leave Tenders Treasury Purchasing Sales Maintenance Quality Training Travel Insurance Production Logistics Research Security Tax Fleet',
);
const FORMS = split(
  'Ledger Portal Gateway Archive Planner Monitor Register Broker Console Management Reporting Analysis',
);
const PLACES = split('Lisbon Oslo Vienna Turin Porto Ghent Malmö Lyon Graz Cork Leeds Basel');
const COUNTRIES = ['Germany', 'France', 'Spain', 'Italy', 'Poland', 'Brazil', 'Japan', 'Canada'];
const STREETS = split('Oak Mill Station Church River Park Garden Bridge Castle Market');
/** As other people write them: short, or in another language. */
const OTHERWISE: Record<string, string[]> = otherwise;

/** Words dropped, put elsewhere, misspelt, written short or in another language, in capitals. */
function rewritten(random: Random, name: string): string {
  let words = split(name).map((word) =>
    OTHERWISE[word] && random.happens(0.3) ? random.of(OTHERWISE[word]) : word,
  );
  if (random.happens(0.25)) words = [...words.slice(1), words[0]!];
  if (words.length > 3 && random.happens(0.15)) words.splice(random.below(words.length), 1);
  if (random.happens(0.35)) {
    const at = random.below(words.length);
    words[at] = random.misspelt(words[at]!);
  }
  const text = words.join(' ');
  return random.happens(0.2) ? text.toUpperCase() : text;
}

const applications: Kind = {
  name: 'applications with vendors, environments, versions and regions',
  fields: [
    { name: 'name', kind: 'name', without: 'vendor' },
    { name: 'vendor', kind: 'name', weight: 0.5 },
    { name: 'description', kind: 'text', weight: 0.5 },
    { name: 'uses', kind: 'set', weight: 0.5 },
    { name: 'cost', kind: 'number', weight: 0.5 },
  ],
  make(random, id, at) {
    const vendor = `${random.of(VENDORS)} GmbH`;
    const use = random.of(FUNCTIONS);
    const form = random.of(FORMS);
    const own = random.word();
    return {
      id,
      values: {
        name: random.happens(0.4) ? `${split(vendor)[0]} ${own} ${use} ${form}` : `${own} ${use} ${form}`,
        vendor,
        description: `${form} for ${use.toLowerCase()} and ${random.of(FUNCTIONS).toLowerCase()} in ${random.of(PLACES)}, run by the ${random.of(FUNCTIONS).toLowerCase()} department`,
        uses: Array.from({ length: 1 + random.below(4) }, () => `i${random.below(200 + at)}`),
        cost: 1_000 * (1 + random.below(400)),
      },
    };
  },
  copy(random, { values }, id) {
    const uses = values.uses as string[];
    return {
      id,
      values: {
        name: rewritten(
          random,
          `${values.name}`.replace(`${split(`${values.vendor}`)[0]} `, random.happens(0.5) ? '' : '$&'),
        ),
        vendor: random.happens(0.25)
          ? null
          : `${values.vendor}`.replace(' GmbH', random.of([' AG', '', ', Inc.'])),
        description: random.happens(0.4) ? null : `${values.description}`.replace(' and ', ', '),
        uses: random.happens(0.3) ? [] : uses.slice(0, 1 + random.below(uses.length)),
        cost: random.happens(0.5) ? null : Math.round(Number(values.cost) * (0.9 + random.next() / 5)),
      },
    };
  },
  variants(random, record, id) {
    const { values } = record;
    const added = random.of([
      ['PROD', 'TEST'],
      ['2.0', '3.1'],
      ['2016', '2019'],
      ['II', 'III'],
      [random.of(COUNTRIES.slice(0, 4)), random.of(COUNTRIES.slice(4))],
    ]);
    return [
      { id: record.id, values: { ...values, name: `${values.name} ${added[0]}` } },
      { id, values: { ...values, name: `${values.name} ${added[1]}`, uses: [`i${random.below(500)}`] } },
    ];
  },
};

const VENDORS = Array.from({ length: 150 }, (_, at) => new Random(1_000 + at).word());

const products: Kind = {
  name: 'products with models and prices',
  fields: [
    { name: 'name', kind: 'name' },
    { name: 'maker', kind: 'choice', weight: 0.5 },
    { name: 'price', kind: 'number' },
    { name: 'description', kind: 'text' },
  ],
  make(random, id) {
    const maker = random.of(VENDORS.slice(0, 40));
    const model = `${random.word().slice(0, 2).toUpperCase()}-${100 + random.below(9_000)}${random.of(split('A B S X'))}`;
    const size = random.of(['120 GB', '500 GB', '24 inch', '12 V', '1 TB', '300 W']);
    return {
      id,
      values: {
        name: `${maker} ${random.of(split('Router Switch Scanner Printer Disk Camera Server Monitor'))} ${model}`,
        maker,
        price: 20 + random.below(2_000),
        description: `${size} ${random.of(split('black white silver grey'))} ${random.of(FUNCTIONS)} ${random.of(FORMS)}`,
      },
    };
  },
  copy(random, { values }, id) {
    const name = `${values.name}`.replace('-', random.of(['', '-', ' ']));
    return {
      id,
      values: {
        name: random.happens(0.3) ? name.toUpperCase() : name,
        maker: random.happens(0.3) ? null : (values.maker ?? null),
        price: random.happens(0.3) ? null : Number(values.price) * (0.85 + random.next() * 0.3),
        description: random.happens(0.3) ? null : `${values.description}`.replace(' ', ''),
      },
    };
  },
};

const organisations: Kind = {
  name: 'organisations with addresses and telephones',
  fields: [
    { name: 'name', kind: 'name' },
    { name: 'address', kind: 'address' },
    { name: 'zip', kind: 'code' },
    { name: 'phone', kind: 'code' },
  ],
  make(random, id) {
    return {
      id,
      values: {
        name: `${random.word()} ${random.of(FUNCTIONS)} ${random.of(['GmbH', 'Ltd', 'AG', 'Inc.', 'S.A.'])}`,
        address: `${1 + random.below(300)} ${random.of(STREETS)} Street ${random.of(PLACES)}`,
        zip: `${10_000 + random.below(400)}`,
        phone: `0${random.below(90) + 10} ${1_000_000 + random.below(8_999_999)}`,
      },
    };
  },
  copy(random, { values }, id) {
    return {
      id,
      values: {
        name: rewritten(random, `${values.name}`.replace(/ (?:GmbH|Ltd|AG|Inc\.|S\.A\.)$/, '')),
        address: random.happens(0.2)
          ? null
          : `${values.address}`.replace('Street', random.of(['St.', 'Str', 'Street'])),
        zip: random.happens(0.2) ? null : (values.zip ?? null),
        phone: random.happens(0.3) ? null : `${values.phone}`.replace(' ', random.of(['', '-', '/'])),
      },
    };
  },
};

const capabilities: Kind = {
  name: 'capabilities with parents',
  fields: [
    { name: 'name', kind: 'name' },
    { name: 'parent', kind: 'choice', weight: 0.5 },
    { name: 'description', kind: 'text' },
  ],
  make(random, id, at) {
    const words = [random.of(FUNCTIONS), random.of(FORMS), random.word()];
    return {
      id,
      values: {
        name: words.join(' '),
        parent: `p${random.below(20 + at / 10)}`,
        description: `The ability to do ${words[0]!.toLowerCase()} for ${random.word()} and ${random.word()} by ${words[1]!.toLowerCase()}`,
      },
    };
  },
  copy(random, { values }, id) {
    return {
      id,
      values: {
        name: rewritten(random, `${values.name}`),
        parent: random.happens(0.3) ? null : (values.parent ?? null),
        description: random.happens(0.4) ? null : (values.description ?? null),
      },
    };
  },
};

export const KINDS: readonly Kind[] = [applications, products, organisations, capabilities];

/**
 * A list of made-up records of a kind, a tenth of which are copies of others, and another tenth variants that are none; the same
 * for the same seed.
 */
export function plantedIn(kind: Kind, records: number, seed = 7): Judged {
  const random = new Random(seed);
  const left: MatchRecord[] = [];
  const truth = new Set<string>();
  const idOf = () => `1:${`${left.length}`.padStart(7, '0')}`;
  while (left.length < records - 1) {
    const record = kind.make(random, idOf(), left.length);
    left.push(record);
    if (random.happens(0.12)) {
      left.push(kind.copy(random, record, idOf()));
      truth.add(pairKey(record.id, left.at(-1)!.id));
    } else if (kind.variants && random.happens(0.1))
      left.splice(-1, 1, ...kind.variants(random, record, idOf()));
  }
  return { name: `Planted: ${records} ${kind.name}`, left, right: null, fields: kind.fields, truth };
}

/** Two lists of made-up applications as long as given, 80 % of which stand in both, written otherwise in the second. */
export function planted(records: number): Judged {
  const random = new Random(7);
  const left = Array.from({ length: records }, (_, at) => applications.make(random, `1:${at}`, at));
  const truth = new Set<string>();
  const right = left.map((record, at) => {
    const id = `2:${at}`;
    if (random.happens(0.2)) return applications.make(random, id, at);
    truth.add(pairKey(record.id, id));
    return applications.copy(random, record, id);
  });
  return { name: `Planted, ${records} records`, left, right, fields: applications.fields, truth };
}
