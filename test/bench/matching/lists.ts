import type { MatchField } from '../../../integrations/analysis/matching/matching.types.ts';
import { type Judged, List, type Values } from './judged.ts';
import { Random, split } from './random.ts';
import words from './words.json' with { type: 'json' };

const { subjects, roles, own, units } = words.applications;
const { goods, titles, colours } = words.offers;
const { legalForms, trades } = words.companies;

const APP_FIELDS: MatchField[] = [
  { name: 'name', kind: 'name', without: 'vendor' },
  { name: 'names', kind: 'list', weight: 0.5 },
  { name: 'description', kind: 'text', weight: 0.5 },
  { name: 'vendor', kind: 'name', weight: 0.5 },
  { name: 'parent', kind: 'choice', weight: 0.5 },
  { name: 'subtype', kind: 'choice', weight: 0.25 },
  { name: 'relations', kind: 'set', weight: 0.5 },
  { name: 'cost', kind: 'number', weight: 0.25 },
  { name: 'criticality', kind: 'choice', weight: 0.25 },
  { name: 'hosting', kind: 'choice', weight: 0.25 },
];

/** A name of an application as people give it: own name, subject and role, or a subset of these. */
function appName(random: Random): string {
  const kind = random.next();
  if (kind < 0.35) return `${random.of(subjects)} ${random.of(roles)}`;
  if (kind < 0.55) return `${random.of(own)} ${random.of(subjects)} ${random.of(roles)}`;
  if (kind < 0.7) return `${random.of(subjects)} ${random.of(subjects)} ${random.of(roles)}`;
  if (kind < 0.8) return `${random.word()} ${random.of(roles)}`;
  if (kind < 0.9) return random.word();
  return `${random.word()} ${random.of(subjects)}`;
}

/** Distinct names: no two equal up to the order of their words. */
function names(random: Random, count: number): string[] {
  const found = new Map<string, string>();
  while (found.size < count) {
    const name = appName(random);
    found.set(split(name.toLowerCase()).sort().join(' '), name);
  }
  return [...found.values()];
}

/** How a second person writes a name, by kind of difference. */
export const DIFFERENCES: Record<string, (random: Random, name: string) => string> = {
  copy: (_, name) => name,
  case: (random, name) => (random.happens(0.5) ? name.toUpperCase() : name.toLowerCase()),
  spacing: (random, name) => name.replace(' ', random.of(['-', '  ', '_', ' - '])),
  order: (_, name) => {
    const [first, ...rest] = split(name);
    return rest.length > 0 ? [...rest, first].join(' ') : `${name} System`;
  },
  slip: (random, name) => {
    const words = split(name);
    const long = words.map((word, at) => ({ word, at })).filter(({ word }) => word.length >= 5);
    const { at } = long.length > 0 ? random.of(long) : { at: 0 };
    words[at] = random.misspelt(words[at]!);
    return words.join(' ');
  },
  vendor: (random, name) =>
    `${random.of(['SAP', 'Oracle', 'Microsoft', 'IBM', 'Salesforce', 'Siemens'])} ${name}`,
  filler: (random, name) => `${name} ${random.of(['System', 'Application', '(copy)', 'Tool', 'Software'])}`,
  short: (_, name) =>
    name
      .replace('Management', 'Mgmt')
      .replace('Reporting', 'Rptg')
      .replace('Manager', 'Mgr')
      .replace('Customer', 'Cust.')
      .replace('Application', 'App'),
  version: (random, name) => `${name} ${random.of(['v2', '3.1', '2019', 'V4.0', 'Release 5'])}`,
  abbreviation(random, name) {
    const words = split(name);
    const longest = words.reduce((a, b) => (b.length > a.length ? b : a));
    const [first, ...rest] = longest;
    const inner = rest.slice(0, -1).filter((letter) => !'aeiou'.includes(letter));
    const short = random.happens(0.5)
      ? longest.slice(0, 3 + random.below(2))
      : `${first}${inner.slice(0, 3).join('')}${rest.at(-1)}`;
    return words.map((word) => (word === longest ? short : word)).join(' ');
  },
};

/** What looks alike and is not: parts and business units of an application. */
function near(random: Random, name: string): string {
  return random.happens(0.5)
    ? `${name} ${random.of(['API', 'Mobile App', 'Batch', 'Interface', 'Database', 'Frontend'])}`
    : `${name} ${random.of(units)}`;
}

/** What a person writes about a card. */
const described = (random: Random): string =>
  `${random.of(roles)} for ${random.of(subjects).toLowerCase()} and ${random.word()}, used by ${random.word()} ${random.of(own)}`;

const UNITS = split(
  'Retail Wholesale Leasing Corporate Commercial Motor Property Reinsurance Iberia Nordics',
);

interface AppPlan {
  size: number;
  copies: number;
  /** Parts and units of applications that are in the list, too. */
  near?: number;
  differences?: string[];
  /** The share of cards whose attributes are filled: 0 none, 1 all; `one`: a single card. */
  filled?: number | 'one';
  /** Whether each card is described, in words of its own. */
  described?: boolean;
  /** Applications that are there for a business unit, too, with the same attributes. */
  units?: number;
}

/** A short or long list of applications. */
export function applications(plan: AppPlan, seed: number): Judged {
  const random = new Random(seed);
  const list = new List();
  const differences = plan.differences ?? ['copy', 'case', 'spacing', 'order', 'filler', 'slip'];
  const all = names(random, plan.size - plan.copies - (plan.near ?? 0));
  const filled = (at: number) => (plan.filled === 'one' ? at === 3 : random.happens(plan.filled ?? 0));
  const values = (name: string, at: number): Values => ({
    name,
    ...(filled(at) ? { criticality: random.of(split('low medium high')) } : {}),
    ...(filled(at) ? { hosting: random.of(split('cloud onPremise saas')) } : {}),
    ...(filled(at) ? { cost: 1_000 * (1 + random.below(200)) } : {}),
    ...(filled(at) ? { subtype: random.of(split('business platform service')) } : {}),
    ...(plan.described ? { description: described(random) } : {}),
  });
  for (const [at, name] of all.entries()) list.add(`${at}`, values(name, at));
  for (let at = 0; at < plan.copies; at++) {
    const difference = DIFFERENCES[differences[at % differences.length]!]!;
    list.add(`${at}`, values(difference(random, all[at]!), all.length + at));
  }
  for (let at = 0; at < (plan.near ?? 0); at++)
    list.add(`near ${at}`, values(near(random, all[all.length - 1 - at]!), -1));
  for (let at = 0; at < (plan.units ?? 0); at++) {
    const whole = list.records[plan.copies + at]!.values;
    list.add(`unit ${at}`, { ...whole, name: `${whole.name} ${random.of(UNITS)}` });
  }
  return list.judged(`applications ${JSON.stringify(plan)}: ${list.records.length}`, APP_FIELDS);
}

const BRANDS = Array.from({ length: 60 }, (_, at) => new Random(5_000 + at).word());

interface Offer {
  brand: string;
  name: string;
  model: string;
  extra: string;
  price: number;
  description: string;
}

/** Families of products whose members differ in a model number, colour or edition. */
function* offersOf(random: Random, software: boolean): Generator<Offer> {
  for (;;) {
    const brand = random.of(BRANDS);
    const line = random.word();
    const thing = software ? `${random.of(titles)} ${random.of(titles)}` : random.of(goods);
    const base = 100 + random.below(9_000);
    const letters = random.word().slice(0, 2).toUpperCase();
    for (let member = 0; member <= random.below(4); member++) {
      const extra = software
        ? random.of(['Upgrade', 'Academic', '5 User', 'Standard', 'Professional', 'Deluxe', 'Mac', ''])
        : random.of([...colours, '', '']);
      yield {
        brand,
        name: software ? `${line} ${thing} ${3 + random.below(9)}.0` : `${line} ${thing}`,
        model: `${letters}${base + 10 * member}`,
        extra,
        price: 20 + random.below(900),
        description: `${random.of(subjects)} ${random.word()} ${thing.toLowerCase()} with ${random.word()} and ${random.of(subjects).toLowerCase()} ${random.word()}`,
      };
    }
  }
}

interface OfferPlan {
  /** Offers in each shop, and how many products both have. */
  each: number;
  both: number;
  software?: boolean;
  /** The share of offers that a shop has more than once. */
  again?: number;
}

const OFFER_FIELDS: MatchField[] = [
  { name: 'name', kind: 'name' },
  { name: 'manufacturer', kind: 'name', weight: 0.5 },
  { name: 'description', kind: 'text', weight: 0.5 },
  { name: 'price', kind: 'number' },
];

/** The offers of two shops in one list, and in a list for each shop. */
export function offers(plan: OfferPlan, seed: number): { one: Judged; two: Judged } {
  const random = new Random(seed);
  const source = offersOf(random, plan.software === true);
  const list = new List();
  const seen = new Set<string>();
  const take = (): Offer => {
    for (;;) {
      const { value } = source.next() as { value: Offer };
      const key = `${value.name} ${value.extra} ${plan.software ? '' : value.model}`;
      if (!seen.has(key) && seen.add(key)) return value;
    }
  };
  const first = (offer: Offer): Values => ({
    name: [offer.brand, offer.name, plan.software ? '' : offer.model, offer.extra].filter(Boolean).join(' '),
    manufacturer: offer.brand,
    description: random.happens(0.7) ? offer.description : null,
    price: random.happens(0.6) ? offer.price : null,
  });
  const second = (offer: Offer): Values => {
    if (random.happens(0.3)) return first(offer);
    const model = random.happens(0.75) ? offer.model.replace(/(?=\d)/, random.of(['', '-', ' '])) : '';
    const parts = [
      random.happens(0.7) ? offer.brand : '',
      offer.name.replace('.0', ''),
      plan.software ? '' : model,
      random.happens(0.7) ? offer.extra : '',
    ].filter(Boolean);
    return {
      name: random.happens(0.3) ? parts.join(' ').toLowerCase() : parts.join(' '),
      manufacturer: random.happens(0.4) ? offer.brand.toUpperCase() : null,
      description: random.happens(0.5) ? split(offer.description).slice(0, 6).join(' ') : null,
      price: random.happens(0.7) ? Math.round(offer.price * (0.85 + random.next() * 0.3)) : null,
    };
  };
  const shops = new Map<string, 1 | 2>();
  const times = () => (random.happens(plan.again ?? 0) ? 2 : 1);
  for (let at = 0; at < 2 * plan.each - plan.both; at++) {
    const offer = take();
    if (at < plan.each) for (let n = times(); n > 0; n--) shops.set(list.add(at, first(offer)), 1);
    if (at >= plan.each || at < plan.both)
      for (let n = times(); n > 0; n--) shops.set(list.add(at, second(offer)), 2);
  }
  const one = list.judged(`offers ${JSON.stringify(plan)}: ${list.records.length}`, OFFER_FIELDS);
  const truth = new Set(
    [...one.truth].filter((key) => {
      const [a, b] = JSON.parse(key) as [string, string];
      return shops.get(a) !== shops.get(b);
    }),
  );
  const of = (shop: 1 | 2) => one.left.filter(({ id }) => shops.get(id) === shop);
  return { one, two: { ...one, name: `${one.name}, two lists`, left: of(1), right: of(2), truth } };
}

/** Company names: `raw` as people write them, with legal forms, places and slips; groups of one to six. */
export function companies(plan: { size: number; share: number; most: number }, seed: number): Judged {
  const random = new Random(seed);
  const list = new List();
  const written = (base: string): string => {
    let name = base;
    if (random.happens(0.15)) name = DIFFERENCES.slip!(random, name);
    if (random.happens(0.65)) name = `${name}${random.of([' ', ', ', ' '])}${random.of(legalForms)}`;
    if (random.happens(0.1))
      name = `${name}${random.of([', Rotterdam', ' (UK)', ' - Germany', ' Deutschland'])}`;
    return random.happens(0.2) ? name.toUpperCase() : name;
  };
  const bases = new Set<string>();
  while (bases.size < plan.size)
    bases.add(
      random.happens(0.5)
        ? `${random.word()} ${random.of(trades)}`
        : random.happens(0.5)
          ? random.word()
          : `${random.word()} ${random.word()}`,
    );
  for (const base of bases) {
    const times = random.happens(plan.share) ? 2 + random.below(plan.most - 1) : 1;
    for (let n = times; n > 0; n--) list.add(base, { name: written(base) });
  }
  return list.judged(`companies ${JSON.stringify(plan)}: ${list.records.length}`, [
    { name: 'name', kind: 'name' },
  ]);
}

/** Companies of short names, many of which differ in one letter and are distinct; some are there again with a legal form. */
export function shortCompanies(plan: { size: number; near: number; again: number }, seed: number): Judged {
  const random = new Random(seed);
  const names = new Set<string>();
  while (names.size < plan.size - plan.near) names.add(random.word().slice(0, 4 + random.below(3)));
  for (const name of [...names].slice(0, plan.near)) {
    const at = random.below(name.length);
    names.add(`${name.slice(0, at)}${random.of([...'aeiorstn'])}${name.slice(at + random.below(2))}`);
  }
  const list = new List();
  for (const name of names) list.add(name, { name });
  for (const name of [...names].slice(-plan.again))
    list.add(name, { name: `${name} ${random.of(legalForms)}` });
  return list.judged(`short companies: ${list.records.length}`, [{ name: 'name', kind: 'name' }]);
}

const NUMBERED_FIELDS: MatchField[] = [
  { name: 'name', kind: 'name', without: 'vendor' },
  { name: 'description', kind: 'text', weight: 0.5 },
  { name: 'parent', kind: 'choice', weight: 0.5 },
  { name: 'subtype', kind: 'choice', weight: 0.25 },
  { name: 'cost', kind: 'number', weight: 0.25 },
  { name: 'criticality', kind: 'choice', weight: 0.25 },
  { name: 'hosting', kind: 'choice', weight: 0.25 },
];

/**
 * Cards that most are named by two words and a number: `exact` copies with the same attributes, of which the name only gets a
 * full stop or `(Kopie)`, and `bare` ones with a full stop and attributes of their own.
 */
export function numbered(plan: { size: number; exact: number; bare: number }, seed: number): Judged {
  const random = new Random(seed);
  const names = new Set<string>();
  while (names.size < plan.size - plan.exact - plan.bare) {
    const language = random.of(words.numbered);
    const number = random.happens(0.85) ? ` ${1 + random.below(1500)}` : ` ${random.word()}`;
    names.add(`${random.of(language.subjects)} ${random.of(language.roles)}${number}`);
  }
  const attributes = () => ({
    subtype: random.of(split('business platform service')),
    cost: random.happens(0.4) ? 1_000 * (1 + random.below(200)) : null,
    criticality: random.happens(0.5) ? random.of(split('low medium high')) : null,
    hosting: random.happens(0.3) ? random.of(split('cloud onPremise saas')) : null,
  });
  const describe = (name: string) =>
    random.happens(0.6)
      ? `${name} ${random.of(['supports', 'covers', 'unterstützt', 'gère'])} ${random.of(split('sales finance logistics service production'))} ${random.word()}`
      : null;
  const list = new List();
  for (const name of names)
    list.add(list.records.length, { name, description: describe(name), ...attributes() });
  for (let at = 0; at < plan.exact + plan.bare; at++) {
    const { values } = list.records[at * 7]!;
    const name = `${values.name}`;
    const copy =
      at < plan.exact
        ? { ...values, name: random.happens(0.5) ? `${name}.` : `${name} (Kopie)` }
        : { name: `${name}.`, description: describe(name), ...attributes() };
    list.add(at * 7, copy);
  }
  return list.judged(`numbered applications: ${list.records.length}`, NUMBERED_FIELDS);
}
