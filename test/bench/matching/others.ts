import { type Judged, List } from './judged.ts';
import * as planted from './planted.ts';
import { type Kind, maybe } from './planted.ts';
import { Random, split } from './random.ts';
import words from './words.json' with { type: 'json' };

const { given: givenNames, towns, roads } = words.persons;
const called: Record<string, string> = words.persons.called;
const { topics, things, purposes } = words.publications;
const venues: Record<string, string> = words.publications.venues;

const pad = (value: number, digits = 2): string => `${value}`.padStart(digits, '0');

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
    name: `${random.of(givenNames)} ${random.word()}`,
    street: `${random.of(roads)}straße ${1 + random.below(120)}`,
    town: random.of(towns),
    born: `${1940 + random.below(65)}-${pad(1 + random.below(12))}-${pad(1 + random.below(28))}`,
    phone: `0${random.below(900) + 100} ${random.below(8_999_999) + 1_000_000}`,
  }),
  copy(random, { name, street, town, born, phone }) {
    let [given, family] = split(`${name}`) as [string, string];
    if (random.happens(0.3)) given = called[given] ?? `${given[0]}.`;
    if (random.happens(0.4)) family = random.misspelt(family);
    return {
      name: random.happens(0.3) ? `${family}, ${given}` : `${given} ${family}`,
      street: maybe(random, 0.2, `${street}`.replace('straße', random.of(['str.', 'strasse', 'straße']))),
      town: maybe(random, 0.2, town),
      born: maybe(random, 0.3, born),
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
      `${random.of(topics)} ${random.of(things)} ${random.of(split('for in over with'))} ${random.of(topics)} ${random.of(purposes)} ${random.happens(0.5) ? `using ${random.of(things)}` : ''}`.trim(),
    authors: Array.from(
      { length: 1 + random.below(3) },
      () => `${random.of(givenNames)} ${random.word()}`,
    ).join(', '),
    venue: random.of(Object.keys(venues)),
    year: 1985 + random.below(35),
  }),
  copy(random, { title, authors, venue, year }) {
    const parts = split(`${title}`);
    if (random.happens(0.3)) parts[0] = random.misspelt(parts[0]!);
    return {
      title: parts.join(' '),
      authors: random.happens(0.5)
        ? `${authors}`.replace(/(\p{Lu})\p{Ll}+ (?=\p{Lu})/gu, '$1. ')
        : (authors ?? null),
      venue: random.happens(0.6) ? venues[`${venue}`]! : maybe(random, 0.2, venue),
      year: maybe(random, 0.2, year),
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
      random.of([...topics, ...purposes, ...things]),
    ).join(' '),
    artist: random.of(ARTISTS),
    album: random.of(ALBUMS),
    seconds: 120 + random.below(240),
  }),
  copy: (random, { title, artist, album, seconds }) => ({
    title: random.happens(0.3) ? random.misspelt(`${title}`) : `${title}`.toUpperCase(),
    artist: maybe(random, 0.2, random.happens(0.3) ? `${artist}`.toLowerCase() : (artist ?? null)),
    album: maybe(random, 0.4, album),
    seconds: maybe(random, 0.3, Number(seconds) + random.below(4)),
  }),
};
const ofMusic = new Random(99);
const twoWords = () => `${ofMusic.word()} ${ofMusic.word()}`;
const ARTISTS = Array.from({ length: 200 }, twoWords);
const ALBUMS = Array.from({ length: 400 }, twoWords);

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
    model: maybe(random, 0.3, model),
    cost: maybe(random, 0.3, cost),
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

const SIGNS = [...words.signs];
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
    owner: maybe(random, 0.3, owner),
  }),
};

/** How the copies lie in a list: the share of things that are there more than once, and how often at most. */
interface Plan {
  things: number;
  share: number;
  most: number;
}

/** A list of made-up records of a kind; the same for the same seed. */
export function listOf(kind: Kind, { things, share, most }: Plan, seed = 11): Judged {
  const random = new Random(seed);
  const list = new List();
  for (let thing = 0; thing < things; thing++) {
    const values = kind.make(random, thing);
    list.add(thing, values);
    if (!random.happens(share)) continue;
    for (let times = 1 + random.below(most - 1); times > 0; times--)
      list.add(thing, kind.copy(random, values));
  }
  const name = `${list.records.length} ${kind.name}, ${100 * share} % of ${things} there up to ${most} times`;
  return list.judged(name, kind.fields);
}

/** A kind under another name, whose things are counted across all lists. */
function counted(kind: Kind, name: string): Kind {
  let count = 0;
  return { ...kind, name, make: (random) => kind.make(random, count++) };
}

const applications = counted(planted.applications, 'applications');
const capabilities = counted(planted.capabilities, 'capabilities');
const names: Kind = {
  ...planted.products,
  name: 'products, prices and descriptions missing',
  fields: [{ name: 'name', kind: 'name' }],
};

/** Lists of other kinds, other shares of duplicates and other sizes than those by which the matching was made. */
export function otherLists(): Judged[] {
  const usual = { things: 1_500, share: 0.15, most: 2 };
  return [
    ...[persons, publications, tracks, servers, companies, foreign, names].map((kind) => listOf(kind, usual)),
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
