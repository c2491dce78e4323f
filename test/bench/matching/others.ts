import type {
  MatchField,
  MatchRecord,
  MatchValue,
} from '../../../integrations/analysis/matching/matching.types.ts';
import { type Judged, pairKey } from './judged.ts';
import { KINDS, Random } from './planted.ts';

/** Made-up things of a kind that the other lists do not hold. */
interface Kind {
  name: string;
  fields: MatchField[];
  make(random: Random): Values;
  /** The values of a copy; of the same thing, written by somebody else. */
  copy(random: Random, values: Values): Values;
}

type Values = Record<string, MatchValue>;

const split = (text: string): string[] => text.split(' ');
const GIVEN = split(
  'Anna Ben Carla David Elena Felix Greta Hugo Ines Jonas Karin Lukas Maria Nils Olga Paul Rosa Simon Tessa Viktor Robert William Katharina Elisabeth Margaret Joseph',
);
const CALLED: Record<string, string> = {
  Robert: 'Bob',
  William: 'Bill',
  Katharina: 'Kathi',
  Elisabeth: 'Lisa',
  Margaret: 'Peggy',
  Joseph: 'Joe',
};
const TOWNS = split(
  'Aarau Bregenz Coburg Dresden Essen Fulda Gotha Halle Ilmenau Jena Krems Lienz Murten Neuss',
);
const ROADS = split('Bahnhof Linden Schiller Markt Wald Berg Ring Garten Kirch Mühl');
const TOPICS = split(
  'adaptive distributed incremental probabilistic scalable approximate parallel temporal spatial semantic secure mobile dynamic optimal robust',
);
const THINGS = split(
  'indexing queries transactions streams joins caching replication clustering views schemas graphs ranking sampling storage workflows',
);
const PURPOSES = split('warehouses sensors networks documents archives markets devices catalogues ledgers');
const VENUES: Record<string, string> = {
  'International Conference on Very Large Data Bases': 'VLDB',
  'Proceedings of the Symposium on Principles of Database Systems': 'PODS',
  'Transactions on Knowledge and Data Engineering': 'TKDE',
  'Journal of Information Systems': 'Inf. Syst.',
};

const pad = (value: number, digits = 2): string => `${value}`.padStart(digits, '0');
const maybe = (random: Random, share: number, value: MatchValue): MatchValue =>
  random.happens(share) ? null : value;

const persons: Kind = {
  name: 'persons with addresses and days of birth',
  fields: [
    { name: 'name', kind: 'name' },
    { name: 'street', kind: 'address' },
    { name: 'town', kind: 'choice', weight: 0.5 },
    { name: 'born', kind: 'date' },
    { name: 'phone', kind: 'code' },
  ],
  make: (random) => ({
    name: `${random.of(GIVEN)} ${random.word()}`,
    street: `${random.of(ROADS)}straße ${1 + random.below(120)}`,
    town: random.of(TOWNS),
    born: `${1940 + random.below(65)}-${pad(1 + random.below(12))}-${pad(1 + random.below(28))}`,
    phone: `0${random.below(900) + 100} ${random.below(8_999_999) + 1_000_000}`,
  }),
  copy(random, { name, street, town, born, phone }) {
    let [given, family] = split(`${name}`) as [string, string];
    if (random.happens(0.3)) given = CALLED[given] ?? `${given[0]}.`;
    if (random.happens(0.4)) family = random.misspelt(family);
    return {
      name: random.happens(0.3) ? `${family}, ${given}` : `${given} ${family}`,
      street: maybe(random, 0.2, `${street}`.replace('straße', random.of(['str.', 'strasse', 'straße']))),
      town: maybe(random, 0.2, town ?? null),
      born: maybe(random, 0.3, born ?? null),
      phone: maybe(random, 0.5, `${phone}`.replace(' ', '')),
    };
  },
};

const publications: Kind = {
  name: 'publications with authors and venues',
  fields: [
    { name: 'title', kind: 'name' },
    { name: 'authors', kind: 'name' },
    { name: 'venue', kind: 'name' },
    { name: 'year', kind: 'number' },
  ],
  make: (random) => ({
    title:
      `${random.of(TOPICS)} ${random.of(THINGS)} ${random.of(split('for in over with'))} ${random.of(TOPICS)} ${random.of(PURPOSES)} ${random.happens(0.5) ? `using ${random.of(THINGS)}` : ''}`.trim(),
    authors: Array.from({ length: 1 + random.below(3) }, () => `${random.of(GIVEN)} ${random.word()}`).join(
      ', ',
    ),
    venue: random.of(Object.keys(VENUES)),
    year: 1985 + random.below(35),
  }),
  copy(random, { title, authors, venue, year }) {
    const words = split(`${title}`);
    if (random.happens(0.3)) words[0] = random.misspelt(words[0]!);
    return {
      title: words.join(' '),
      authors: random.happens(0.5)
        ? `${authors}`.replace(/(\p{Lu})\p{Ll}+ (?=\p{Lu})/gu, '$1. ')
        : (authors ?? null),
      venue: random.happens(0.6) ? VENUES[`${venue}`]! : maybe(random, 0.2, venue ?? null),
      year: maybe(random, 0.2, year ?? null),
    };
  },
};

const tracks: Kind = {
  name: 'pieces of music with performers and lengths',
  fields: [
    { name: 'title', kind: 'name' },
    { name: 'artist', kind: 'name' },
    { name: 'album', kind: 'name', weight: 0.5 },
    { name: 'seconds', kind: 'number' },
  ],
  make: (random) => ({
    title: Array.from({ length: 1 + random.below(3) }, () =>
      random.of([...TOPICS, ...PURPOSES, ...THINGS]),
    ).join(' '),
    artist: random.of(ARTISTS),
    album: random.of(ALBUMS),
    seconds: 120 + random.below(240),
  }),
  copy: (random, { title, artist, album, seconds }) => ({
    title: random.happens(0.3) ? random.misspelt(`${title}`) : `${title}`.toUpperCase(),
    artist: maybe(random, 0.2, random.happens(0.3) ? `${artist}`.toLowerCase() : (artist ?? null)),
    album: maybe(random, 0.4, album ?? null),
    seconds: maybe(random, 0.3, Number(seconds) + random.below(4)),
  }),
};
const words = new Random(99);
const ARTISTS = Array.from({ length: 200 }, () => `${words.word()} ${words.word()}`);
const ALBUMS = Array.from({ length: 400 }, () => `${words.word()} ${words.word()}`);

const servers: Kind = {
  name: 'servers, most of them called the same',
  fields: [
    { name: 'name', kind: 'name' },
    { name: 'serial', kind: 'code' },
    { name: 'model', kind: 'name', weight: 0.5 },
    { name: 'cost', kind: 'number', weight: 0.5 },
  ],
  make: (random) => ({
    name: random.of(['Server', 'Print server', 'File server', 'Database server']),
    serial: `${random.word().slice(0, 3).toUpperCase()}${pad(random.below(10_000_000), 7)}`,
    model: random.of(['PowerEdge R740', 'ProLiant DL380', 'UCS C220']),
    cost: 1_000 + random.below(9_000),
  }),
  copy: (random, { name, serial, model, cost }) => ({
    name: `${name}`.toUpperCase(),
    serial: `${`${serial}`.slice(0, 3)}-${`${serial}`.slice(3)}`,
    model: maybe(random, 0.3, model ?? null),
    cost: maybe(random, 0.3, cost ?? null),
  }),
};

const companies: Kind = {
  name: 'companies, nothing but names',
  fields: [{ name: 'name', kind: 'name' }],
  make: (random) => ({
    name: `${random.word()} ${random.happens(0.6) ? `${random.of(split('Textil Werkzeug Papier Chemie Bau Holz Metall Energie'))} ` : ''}${random.of(split('GmbH AG KG e.V. Ltd Inc.'))}`,
  }),
  copy(random, { name }) {
    const [first, ...rest] = split(`${name}`);
    const form = random.of(['', 'GmbH', 'AG', 'Limited']);
    return {
      name: [random.happens(0.6) ? random.misspelt(first!) : first, ...rest.slice(0, -1), form]
        .join(' ')
        .trim(),
    };
  },
};

const SIGNS = [
  ...'顧客販売在庫会計人事物流契約給与保険車両工場研究教育医療銀行旅行食品電力水道気象港湾空港鉄道道路建築森林',
];
const signs = (random: Random, count: number): string =>
  Array.from({ length: count }, () => random.of(SIGNS)).join('');

const foreign: Kind = {
  name: 'systems in other scripts',
  fields: [
    { name: 'name', kind: 'name' },
    { name: 'owner', kind: 'choice', weight: 0.5 },
  ],
  make: (random) => ({
    name: random.happens(0.5)
      ? `${signs(random, 3)}${random.of(split('管理 分析 照会 登録 予測'))}${signs(random, 2)}${random.of(split('基盤 画面 台帳 連携 帳票'))}`
      : `${random.of(split('Учёт Склад Расчёт Архив Портал'))} ${random.of(split('клиентов договоров платежей поставок кадров'))} ${random.of(split('Москва Казань Самара Тула Омск Пермь Тверь'))} ${random.word()}`,
    owner: `o${random.below(40)}`,
  }),
  copy: (random, { name, owner }) => ({
    name: random.happens(0.4) ? `${name}システム`.toUpperCase() : `${name}`.toUpperCase().replace('Ё', 'Е'),
    owner: maybe(random, 0.3, owner ?? null),
  }),
};

/** How the copies lie in a list: the share of things that are there more than once, and how often at most. */
interface Plan {
  things: number;
  share: number;
  most: number;
}

/** A list of made-up records of a kind; the same for the same seed. */
function listOf(kind: Kind, { things, share, most }: Plan, seed = 11): Judged {
  const random = new Random(seed);
  const left: MatchRecord[] = [];
  const truth = new Set<string>();
  const add = (values: Values) => {
    const id = pad(left.length, 7);
    left.push({ id, values });
    return id;
  };
  for (let thing = 0; thing < things; thing++) {
    const values = kind.make(random);
    const ids = [add(values)];
    if (!random.happens(share)) continue;
    for (let times = 1 + random.below(most - 1); times > 0; times--) ids.push(add(kind.copy(random, values)));
    for (const [at, id] of ids.entries())
      for (const other of ids.slice(at + 1)) truth.add(pairKey(id, other));
  }
  const name = `${left.length} ${kind.name}, ${100 * share} % of ${things} there up to ${most} times`;
  return { name, left, right: null, fields: kind.fields, truth };
}

const applications: Kind = { ...asKind(0), name: 'applications' };
const products: Kind = {
  ...asKind(1),
  name: 'products, prices and descriptions missing',
  fields: [{ name: 'name', kind: 'name' }],
};
const capabilities: Kind = { ...asKind(3), name: 'capabilities' };

function asKind(place: number): Kind {
  const { name, fields, make, copy } = KINDS[place]!;
  let at = 0;
  return {
    name,
    fields,
    make: (random) => ({ ...make(random, '', at++).values }),
    copy: (random, values) => ({ ...copy(random, { id: '', values }, '').values }),
  };
}

/** Lists of other kinds, other shares of duplicates and other sizes than those by which the matching was made. */
export function otherLists(): Judged[] {
  const usual = { things: 1_500, share: 0.15, most: 2 };
  return [
    ...[persons, publications, tracks, servers, companies, foreign, products].map((kind) =>
      listOf(kind, usual),
    ),
    ...[persons, publications, companies, applications].map((kind) =>
      listOf(kind, { things: 400, share: 0.6, most: 7 }),
    ),
    // each thing once
    ...[persons, publications, tracks, servers, companies, foreign, applications, capabilities].map((kind) =>
      listOf(kind, { things: 1_500, share: 0, most: 2 }),
    ),
    // each thing twice and more
    ...[persons, publications, companies, applications].map((kind) =>
      listOf(kind, { things: 700, share: 1, most: 3 }),
    ),
    // lists that are short
    ...[persons, publications, applications, capabilities].flatMap((kind) =>
      [10, 30, 100].map((things) => listOf(kind, { things, share: 0.3, most: 2 })),
    ),
  ];
}
