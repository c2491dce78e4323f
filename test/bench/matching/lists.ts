import type {
  MatchField,
  MatchRecord,
  MatchValue,
} from '../../../integrations/analysis/matching/matching.types.ts';
import { type Judged, pairKey } from './judged.ts';
import { Random } from './planted.ts';

type Values = Record<string, MatchValue>;

/** A list under construction: records by entity, of which two of one entity are a true pair. */
class List {
  readonly records: MatchRecord[] = [];
  readonly #entities = new Map<string, string[]>();

  add(entity: string, values: Values): void {
    const id = `${this.records.length}`.padStart(7, '0');
    this.records.push({ id, values });
    const ids = this.#entities.get(entity);
    if (ids) ids.push(id);
    else this.#entities.set(entity, [id]);
  }

  judged(name: string, fields: MatchField[]): Judged {
    const truth = new Set<string>();
    for (const ids of this.#entities.values())
      for (const [at, id] of ids.entries())
        for (const other of ids.slice(at + 1)) truth.add(pairKey(id, other));
    return { name: `${name}: ${this.records.length}`, left: this.records, right: null, fields, truth };
  }
}

const split = (text: string): string[] => text.split(' ');

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

const SUBJECTS = split(
  'Customer Supplier Contract Invoice Order Delivery Product Price Claim Policy Payment Account Asset Vehicle Employee Salary Travel Expense Budget Project Risk Audit Document Content Mail Print Identity Access Network Server Backup Incident Knowledge Campaign Lead Loyalty Warehouse Transport Route Energy Meter Maintenance Quality Laboratory Patient Student Course Library Parking Visitor Facility Waste',
);
const ROLES = split(
  'Management Portal Register Planner Hub Tracker Archive Gateway Monitor Desk Cockpit Workbench Engine Directory Reporting Analytics Scheduler Manager Suite Platform',
);
const OWN = split(
  'Apollo Atlas Aurora Borealis Calypso Castor Cobalt Delphi Electra Falcon Gemini Helios Hermes Icarus Juno Kestrel Lynx Mercury Nimbus Orion Pegasus Phoenix Quasar Rigel Saturn Sirius Taurus Titan Ursa Vega Zephyr',
);
const UNITS = split('Retail Wholesale Leasing Corporate Nordics Iberia Benelux Logistics Insurance Health');

/** A name of an application as people give it: own name, subject and role, or a subset of these. */
function appName(random: Random): string {
  const kind = random.next();
  if (kind < 0.35) return `${random.of(SUBJECTS)} ${random.of(ROLES)}`;
  if (kind < 0.55) return `${random.of(OWN)} ${random.of(SUBJECTS)} ${random.of(ROLES)}`;
  if (kind < 0.7) return `${random.of(SUBJECTS)} ${random.of(SUBJECTS)} ${random.of(ROLES)}`;
  if (kind < 0.8) return `${random.word()} ${random.of(ROLES)}`;
  if (kind < 0.9) return random.word();
  return `${random.word()} ${random.of(SUBJECTS)}`;
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
};

/** What looks alike and is not: parts and business units of an application. */
function near(random: Random, name: string): string {
  return random.happens(0.5)
    ? `${name} ${random.of(['API', 'Mobile App', 'Batch', 'Interface', 'Database', 'Frontend'])}`
    : `${name} ${random.of(UNITS)}`;
}

interface AppPlan {
  size: number;
  copies: number;
  /** Parts and units of applications that are in the list, too. */
  near?: number;
  differences?: string[];
  /** The share of cards whose attributes are filled: 0 none, 1 all; `one`: a single card. */
  filled?: number | 'one';
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
  });
  for (const [at, name] of all.entries()) list.add(`${at}`, values(name, at));
  for (let at = 0; at < plan.copies; at++) {
    const difference = DIFFERENCES[differences[at % differences.length]!]!;
    list.add(`${at}`, values(difference(random, all[at]!), all.length + at));
  }
  for (let at = 0; at < (plan.near ?? 0); at++)
    list.add(`near ${at}`, values(near(random, all[all.length - 1 - at]!), -1));
  return list.judged(`applications ${JSON.stringify(plan)}`, APP_FIELDS);
}

const BRANDS = Array.from({ length: 60 }, (_, at) => new Random(5_000 + at).word());
const GOODS = split(
  'Camera Printer Router Switch Headphones Speaker Keyboard Monitor Projector Scanner Microwave Refrigerator Dishwasher Vacuum Kettle Camcorder Receiver Turntable Charger Battery',
);
const TITLES = split(
  'Photo Office Studio Draw Tax Language Spanish French Music Video Web Security Antivirus Backup Design Publisher Garden Home Family Writer Painter Typing Math Reading',
);
const COLOURS = split('Black White Silver Red Blue Graphite');

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
    const goods = software ? `${random.of(TITLES)} ${random.of(TITLES)}` : random.of(GOODS);
    const base = 100 + random.below(9_000);
    const letters = random.word().slice(0, 2).toUpperCase();
    for (let member = 0; member <= random.below(4); member++) {
      const extra = software
        ? random.of(['Upgrade', 'Academic', '5 User', 'Standard', 'Professional', 'Deluxe', 'Mac', ''])
        : random.of([...COLOURS, '', '']);
      yield {
        brand,
        name: software ? `${line} ${goods} ${3 + random.below(9)}.0` : `${line} ${goods}`,
        model: `${letters}${base + 10 * member}`,
        extra,
        price: 20 + random.below(900),
        description: `${random.of(SUBJECTS)} ${random.word()} ${goods.toLowerCase()} with ${random.word()} and ${random.of(SUBJECTS).toLowerCase()} ${random.word()}`,
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

/** One list of the offers of two shops; `sides` tells the shop of each record. */
export function offers(plan: OfferPlan, seed: number): { one: Judged; two: Judged } {
  const random = new Random(seed);
  const source = offersOf(random, plan.software === true);
  const list = new List();
  const shops: string[] = [];
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
  for (let at = 0; at < 2 * plan.each - plan.both; at++) {
    const offer = take();
    const inFirst = at < plan.each;
    const inSecond = at >= plan.each || at < plan.both;
    const times = () => (random.happens(plan.again ?? 0) ? 2 : 1);
    if (inFirst)
      for (let n = times(); n > 0; n--) if (list.add(`${at}`, first(offer)) === undefined) shops.push('1');
    if (inSecond)
      for (let n = times(); n > 0; n--) if (list.add(`${at}`, second(offer)) === undefined) shops.push('2');
  }
  const one = list.judged(`offers ${JSON.stringify(plan)}`, OFFER_FIELDS);
  const shopOf = new Map(one.left.map(({ id }, at) => [id, shops[at]!]));
  const truth = new Set(
    [...one.truth].filter((key) => {
      const [a, b] = JSON.parse(key) as [string, string];
      return shopOf.get(a) !== shopOf.get(b);
    }),
  );
  const of = (shop: string) => one.left.filter((_, at) => shops[at] === shop);
  return { one, two: { ...one, name: `${one.name}, two lists`, left: of('1'), right: of('2'), truth } };
}

const FORMS = [
  'GmbH',
  'AG',
  'SE',
  'Ltd',
  'Ltd.',
  'Limited',
  'Inc.',
  'Inc',
  'Corp.',
  'B.V.',
  'BV',
  'N.V.',
  'S.A.',
  'S.p.A.',
  'GmbH & Co. KG',
  'SE & Co. KG',
  'LLC',
  'Pty Ltd',
  'Oy',
  'AB',
  'A/S',
];
const TRADES = split(
  'Software Systems Technologies Solutions Networks Data Labs Consulting Digital Cloud Group',
);

/** Company names: `raw` as people write them, with legal forms, places and slips; groups of one to six. */
export function companies(plan: { size: number; share: number; most: number }, seed: number): Judged {
  const random = new Random(seed);
  const list = new List();
  const written = (base: string): string => {
    let name = base;
    if (random.happens(0.15)) name = DIFFERENCES.slip!(random, name);
    if (random.happens(0.65)) name = `${name}${random.of([' ', ', ', ' '])}${random.of(FORMS)}`;
    if (random.happens(0.1))
      name = `${name}${random.of([', Rotterdam', ' (UK)', ' - Germany', ' Deutschland'])}`;
    return random.happens(0.2) ? name.toUpperCase() : name;
  };
  const bases = new Set<string>();
  while (bases.size < plan.size)
    bases.add(
      random.happens(0.5)
        ? `${random.word()} ${random.of(TRADES)}`
        : random.happens(0.5)
          ? random.word()
          : `${random.word()} ${random.word()}`,
    );
  for (const base of bases) {
    const times = random.happens(plan.share) ? 2 + random.below(plan.most - 1) : 1;
    for (let n = times; n > 0; n--) list.add(base, { name: written(base) });
  }
  return list.judged(`companies ${JSON.stringify(plan)}`, [{ name: 'name', kind: 'name' }]);
}
