import type { MatchField } from '../../../integrations/analysis/matching/matching.types.ts';
import { type Judged, List, pairKey, type Values } from './judged.ts';
import { Random, split } from './random.ts';
import words from './words.json' with { type: 'json' };

/** Made-up things of a kind. */
export interface Kind {
  name: string;
  fields: MatchField[];
  /** @param at how many records there are before it. */
  make(random: Random, at: number): Values;
  /** A copy as another person would have written it. */
  copy(random: Random, values: Values): Values;
  /** Two things whose names differ only in a version, environment or region. */
  variants?(random: Random, values: Values): [Values, Values];
}

const { functions, forms, places, countries, streets } = words.planted;
/** As other people write them: short, or in another language. */
const otherwise: Record<string, string[]> = words.planted.otherwise;

/** The value, or none with this probability. */
export const maybe = <T>(random: Random, share: number, value: T | undefined): T | null =>
  random.happens(share) ? null : (value ?? null);

/** Words dropped, put elsewhere, misspelt, written short or in another language, in capitals. */
function rewritten(random: Random, name: string): string {
  let parts = split(name).map((word) =>
    otherwise[word] && random.happens(0.3) ? random.of(otherwise[word]) : word,
  );
  if (random.happens(0.25)) parts = [...parts.slice(1), parts[0]!];
  if (parts.length > 3 && random.happens(0.15)) parts.splice(random.below(parts.length), 1);
  if (random.happens(0.35)) {
    const at = random.below(parts.length);
    parts[at] = random.misspelt(parts[at]!);
  }
  const text = parts.join(' ');
  return random.happens(0.2) ? text.toUpperCase() : text;
}

export const applications: Kind = {
  name: 'applications with vendors, environments, versions and regions',
  fields: [
    { name: 'name', kind: 'name', without: 'vendor' },
    { name: 'vendor', kind: 'name', weight: 0.5 },
    { name: 'description', kind: 'text', weight: 0.5 },
    { name: 'uses', kind: 'set', weight: 0.5 },
    { name: 'cost', kind: 'number', weight: 0.5 },
  ],
  make(random, at) {
    const vendor = `${random.of(VENDORS)} GmbH`;
    const use = random.of(functions);
    const form = random.of(forms);
    const own = random.word();
    return {
      name: random.happens(0.4) ? `${split(vendor)[0]} ${own} ${use} ${form}` : `${own} ${use} ${form}`,
      vendor,
      description: `${form} for ${use.toLowerCase()} and ${random.of(functions).toLowerCase()} in ${random.of(places)}, run by the ${random.of(functions).toLowerCase()} department`,
      uses: Array.from({ length: 1 + random.below(4) }, () => `i${random.below(200 + at)}`),
      cost: 1_000 * (1 + random.below(400)),
    };
  },
  copy(random, values) {
    const uses = values.uses as string[];
    return {
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
    };
  },
  variants(random, values) {
    const [one, other] = random.of([
      ['PROD', 'TEST'],
      ['2.0', '3.1'],
      ['2016', '2019'],
      ['II', 'III'],
      [random.of(countries.slice(0, 4)), random.of(countries.slice(4))],
    ]);
    return [
      { ...values, name: `${values.name} ${one}` },
      { ...values, name: `${values.name} ${other}`, uses: [`i${random.below(500)}`] },
    ];
  },
};

const VENDORS = Array.from({ length: 150 }, (_, at) => new Random(1_000 + at).word());

export const products: Kind = {
  name: 'products with models and prices',
  fields: [
    { name: 'name', kind: 'name' },
    { name: 'maker', kind: 'choice', weight: 0.5 },
    { name: 'price', kind: 'number' },
    { name: 'description', kind: 'text' },
  ],
  make(random) {
    const maker = random.of(VENDORS.slice(0, 40));
    const model = `${random.word().slice(0, 2).toUpperCase()}-${100 + random.below(9_000)}${random.of(split('A B S X'))}`;
    const size = random.of(['120 GB', '500 GB', '24 inch', '12 V', '1 TB', '300 W']);
    return {
      name: `${maker} ${random.of(split('Router Switch Scanner Printer Disk Camera Server Monitor'))} ${model}`,
      maker,
      price: 20 + random.below(2_000),
      description: `${size} ${random.of(split('black white silver grey'))} ${random.of(functions)} ${random.of(forms)}`,
    };
  },
  copy(random, values) {
    const name = `${values.name}`.replace('-', random.of(['', '-', ' ']));
    return {
      name: random.happens(0.3) ? name.toUpperCase() : name,
      maker: maybe(random, 0.3, values.maker),
      price: random.happens(0.3) ? null : Number(values.price) * (0.85 + random.next() * 0.3),
      description: random.happens(0.3) ? null : `${values.description}`.replace(' ', ''),
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
  make(random) {
    return {
      name: `${random.word()} ${random.of(functions)} ${random.of(['GmbH', 'Ltd', 'AG', 'Inc.', 'S.A.'])}`,
      address: `${1 + random.below(300)} ${random.of(streets)} Street ${random.of(places)}`,
      zip: `${10_000 + random.below(400)}`,
      phone: `0${random.below(90) + 10} ${1_000_000 + random.below(8_999_999)}`,
    };
  },
  copy(random, values) {
    return {
      name: rewritten(random, `${values.name}`.replace(/ (?:GmbH|Ltd|AG|Inc\.|S\.A\.)$/, '')),
      address: random.happens(0.2)
        ? null
        : `${values.address}`.replace('Street', random.of(['St.', 'Str', 'Street'])),
      zip: maybe(random, 0.2, values.zip),
      phone: random.happens(0.3) ? null : `${values.phone}`.replace(' ', random.of(['', '-', '/'])),
    };
  },
};

export const capabilities: Kind = {
  name: 'capabilities with parents',
  fields: [
    { name: 'name', kind: 'name' },
    { name: 'parent', kind: 'choice', weight: 0.5 },
    { name: 'description', kind: 'text' },
  ],
  make(random, at) {
    const parts = [random.of(functions), random.of(forms), random.word()];
    return {
      name: parts.join(' '),
      parent: `p${random.below(20 + at / 10)}`,
      description: `The ability to do ${parts[0]!.toLowerCase()} for ${random.word()} and ${random.word()} by ${parts[1]!.toLowerCase()}`,
    };
  },
  copy(random, values) {
    return {
      name: rewritten(random, `${values.name}`),
      parent: maybe(random, 0.3, values.parent),
      description: maybe(random, 0.4, values.description),
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
  const list = new List('1:');
  while (list.records.length < records - 1) {
    const at = list.records.length;
    const values = kind.make(random, at);
    list.add(at, values);
    if (random.happens(0.12)) list.add(at, kind.copy(random, values));
    else if (kind.variants && random.happens(0.1)) {
      const [one, other] = kind.variants(random, values);
      list.records[at]!.values = one;
      list.add(list.records.length, other);
    }
  }
  return list.judged(`Planted: ${records} ${kind.name}`, kind.fields);
}

/** Two lists of made-up applications as long as given, 80 % of which are in both, written otherwise in the second. */
export function planted(records: number): Judged {
  const random = new Random(7);
  const { make, copy, fields } = applications;
  const left = Array.from({ length: records }, (_, at) => ({ id: `1:${at}`, values: make(random, at) }));
  const truth = new Set<string>();
  const right = left.map(({ id, values }, at) => {
    const other = `2:${at}`;
    if (random.happens(0.2)) return { id: other, values: make(random, at) };
    truth.add(pairKey(id, other));
    return { id: other, values: copy(random, values) };
  });
  return { name: `Planted, ${records} records`, left, right, fields, truth };
}
