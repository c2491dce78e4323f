import type { MatchField } from '../../../integrations/analysis/matching/matching.types.ts';
import words from './further.json' with { type: 'json' };
import type { Values } from './judged.ts';
import { maybe } from './planted.ts';
import { Random } from './random.ts';

/** Things of a kind. */
export interface Kind {
  name: string;
  fields: MatchField[];
  /** A record that no other thing of the list has. */
  make(random: Random, at: number): Values;
  /** The same thing as another person would have written it. */
  copy(random: Random, values: Values): Values;
  /** Another thing that is called nearly the same. */
  near?(random: Random, values: Values): Values;
}

export type Language = keyof typeof words.applications;
/** Languages of application names. */
export const LANGUAGES = Object.keys(words.applications) as Language[];

const capital = (text: string) => text[0]!.toUpperCase() + text.slice(1);

function applicationName(language: Language, subject: number, role: number): string {
  const { subjects, roles, order } = words.applications[language];
  const [of, what] = [subjects[subject]!, roles[role]!];
  if (order === 'joined') return `${of}${what}`;
  if (order === 'subject role') return `${of} ${what}`;
  return order.replace('role', what).replace('subject', of);
}

/** A slip in one of the words with five letters or more, as a finger makes it. */
function slip(random: Random, text: string): string {
  const parts = text.split(' ');
  const long = [...parts.keys()].filter((at) => parts[at]!.length >= 5);
  if (long.length === 0) return text;
  const at = random.of(long);
  parts[at] = random.misspelt(parts[at]!);
  return parts.join(' ');
}

/** How another person writes a name. */
export const HABITS: Record<string, (random: Random, name: string) => string> = {
  copy: (_, name) => name,
  case: (random, name) => (random.happens(0.5) ? name.toUpperCase() : name.toLowerCase()),
  hyphen: (_, name) => name.replace(/[ -]/, (found) => (found === ' ' ? '-' : ' ')),
  kind: (random, name) => `${name} ${random.of(['System', 'App', 'Tool', 'Application', '(old)', '(copy)'])}`,
  maker: (random, name) => `${random.of(words.makers)} ${name}`,
  slip,
};

/** Applications of one language or of all, with as many attributes as given. */
export function applications(
  languages: readonly Language[],
  filled: number,
  habits = Object.keys(HABITS),
): Kind {
  const attributes = (random: Random): Values => {
    const given = <T>(value: T) => (random.happens(filled) ? value : null);
    return {
      description: given(
        `${capital(random.of(words.words))} and ${random.of(words.words)} for ${random.of(words.departments)} in ${random.of(words.cities)}, ${random.of(words.projects)} ${random.below(90)}`,
      ),
      vendor: given(random.of(words.makers)),
      criticality: given(random.of(['low', 'medium', 'high', 'mission critical'])),
      hosting: given(random.of(['on premises', 'private cloud', 'public cloud'])),
      users: given(10 * (1 + random.below(500))),
      relations: given([`r${random.below(60)}`, `r${random.below(60)}`, `r${random.below(60)}`]),
    };
  };
  return {
    name: `applications (${languages.join(', ')}), attributes filled: ${filled}`,
    fields: [
      { name: 'name', kind: 'name', without: 'vendor' },
      { name: 'description', kind: 'text', weight: 0.5 },
      { name: 'vendor', kind: 'name', weight: 0.5 },
      { name: 'criticality', kind: 'choice', weight: 0.25 },
      { name: 'hosting', kind: 'choice', weight: 0.25 },
      { name: 'users', kind: 'number', weight: 0.25 },
      { name: 'relations', kind: 'set', weight: 0.5 },
    ],
    make(random) {
      const name = applicationName(random.of(languages), random.below(20), random.below(10));
      const own = random.next();
      const full =
        own < 0.35
          ? name
          : own < 0.6
            ? `${random.of(words.projects)} ${name}`
            : own < 0.8
              ? `${random.word()} ${name}`
              : `${random.word()} ${random.of(words.suites)}`;
      return { name: capital(full), ...attributes(random) };
    },
    copy: (random, values) => ({
      // who copies a card keeps some of its attributes
      ...Object.fromEntries(
        Object.entries(attributes(random)).map(([key, value]) => [
          key,
          random.happens(0.6) ? values[key] : value,
        ]),
      ),
      name: HABITS[random.of(habits)]!(random, `${values.name}`),
    }),
    near: (random, values) => ({
      ...attributes(random),
      name: `${values.name} ${random.of(['API', 'Mobile', 'Batch', 'Test', '2.0', 'Spain', 'Reporting', 'Lite'])}`,
    }),
  };
}

/** Restaurants; one called the same is another branch. */
export const restaurants: Kind = {
  name: 'restaurants',
  fields: [
    { name: 'name', kind: 'name' },
    { name: 'address', kind: 'address' },
    { name: 'city', kind: 'choice', weight: 0.5 },
    { name: 'phone', kind: 'code' },
  ],
  make: (random) => ({
    name: random.happens(0.5)
      ? `${random.of(words.forenames)}'s ${random.of(words.dishes)}`
      : `The ${random.of(words.adjectives)} ${random.of(words.animals)}`,
    address: `${1 + random.below(240)} ${random.of(words.avenues)} ${random.of(['Street', 'Road', 'Lane', 'Avenue'])}`,
    city: random.of(words.cities),
    phone: `+${30 + random.below(19)} ${100 + random.below(900)} ${100_000 + random.below(900_000)}`,
  }),
  copy: (random, { name, address, city, phone }) => ({
    name: random.happens(0.3) ? slip(random, `${name}`) : `${name}`.replace(/^The |'s/, ''),
    address: maybe(
      random,
      0.2,
      `${address}`.replace(/Street|Road|Avenue/, (found) => `${found.slice(0, 2)}.`),
    ),
    city: maybe(random, 0.1, city),
    phone: maybe(random, 0.4, `${phone}`.replace(/^\+\d+ /, '0')),
  }),
  // a branch
  near: (random, { name }) => ({ ...restaurants.make(random, 0), name: name ?? null }),
};

/** Beers, many of which are called the same and are of other breweries. */
export const beers: Kind = {
  name: 'beers',
  fields: [
    { name: 'name', kind: 'name' },
    { name: 'brewery', kind: 'name', weight: 0.5 },
    { name: 'style', kind: 'choice', weight: 0.5 },
    { name: 'alcohol', kind: 'number', weight: 0.5 },
  ],
  make: (random) => ({
    name: `${random.of(words.adjectives)} ${random.of(words.animals)} ${random.happens(0.6) ? random.of(words.styles) : ''}`.trim(),
    brewery: `${random.of(BREWERIES)} Brewing Company`,
    style: random.of(words.styles),
    alcohol: 3.5 + random.below(60) / 10,
  }),
  copy: (random, { name, brewery, style, alcohol }) => ({
    name: random.happens(0.25)
      ? slip(random, `${name}`)
      : random.happens(0.3)
        ? `${`${brewery}`.split(' ')[0]} ${name}`
        : (name ?? null),
    brewery: maybe(random, 0.2, `${brewery}`.replace(' Company', random.of(['', ' Co.', ' Company']))),
    style: maybe(random, 0.3, style),
    alcohol: maybe(random, 0.3, alcohol),
  }),
  near: (random, values) => ({
    ...values,
    name: `${values.name} ${random.of(['Barrel Aged', '2019', 'Double', 'Session'])}`,
    alcohol: 3.5 + random.below(60) / 10,
  }),
};
const ofBeers = new Random(4_711);
const BREWERIES = Array.from({ length: 60 }, () => ofBeers.word());

/** Employees, some of whom have the same name. */
export const staff: Kind = {
  name: 'employees',
  fields: [
    { name: 'name', kind: 'name' },
    { name: 'department', kind: 'choice', weight: 0.5 },
    { name: 'mail', kind: 'code' },
    { name: 'joined', kind: 'date' },
  ],
  make(random, at) {
    const [fore, sur] = [random.of(words.forenames), random.of(words.surnames)];
    return {
      name: `${fore} ${random.happens(0.4) ? `${random.of(words.forenames)} ` : ''}${sur}`,
      department: random.of(words.departments),
      mail: `${fore[0]}.${sur}${at}@example.org`.toLowerCase(),
      joined: `${1990 + random.below(34)}-0${1 + random.below(9)}-${10 + random.below(18)}`,
    };
  },
  copy(random, { name, department, mail, joined }) {
    const parts = `${name}`.split(' ');
    return {
      name: random.happens(0.3)
        ? `${parts.slice(1).join(' ')}, ${parts[0]}`
        : random.happens(0.3)
          ? slip(random, `${name}`)
          : (name ?? null),
      department: random.happens(0.3) ? random.of(words.departments) : (department ?? null),
      mail: maybe(random, 0.5, mail),
      joined: maybe(random, 0.4, joined),
    };
  },
};

/** Articles; a second part is another one. */
export const articles: Kind = {
  name: 'articles',
  fields: [
    { name: 'title', kind: 'name' },
    { name: 'authors', kind: 'name', weight: 0.5 },
    { name: 'journal', kind: 'name', weight: 0.5 },
    { name: 'year', kind: 'number' },
    { name: 'pages', kind: 'code', weight: 0.5 },
  ],
  make: (random) => ({
    title: capital(
      `${random.of(words.words)} ${random.of(words.words)} ${random.of(['in', 'and', 'of', 'after'])} ${random.of(words.words)} ${random.of(words.words)}${random.happens(0.4) ? `: a ${random.of(words.words)} study` : ''}`,
    ),
    authors: Array.from(
      { length: 1 + random.below(4) },
      () => `${random.of(words.surnames)} ${random.of(words.forenames)[0]}`,
    ).join(', '),
    journal: random.of(words.journals)[0]!,
    year: 1995 + random.below(29),
    pages: `${1 + random.below(900)}-${1 + random.below(99)}`,
  }),
  copy: (random, { title, authors, journal, year, pages }) => ({
    title: random.happens(0.3) ? slip(random, `${title}`) : `${title}`.toLowerCase(),
    authors: random.happens(0.4) ? `${authors}`.split(', ')[0]! : (authors ?? null),
    journal: random.happens(0.5) ? words.journals.find(([name]) => name === journal)![1]! : (journal ?? null),
    year: maybe(random, 0.2, year),
    pages: maybe(random, 0.4, pages),
  }),
  // its second part, by the same authors
  near: (random, values) => ({
    ...values,
    title: `${values.title}, part 2`,
    year: Number(values.year) + 1,
    pages: `${random.below(900)}`,
  }),
};

/** The name of a firm without its legal form. */
export const withoutForm = (name: string): string =>
  words.forms.reduce(
    (text, form) => (text.endsWith(` ${form}`) ? text.slice(0, -form.length - 1) : text),
    name,
  );

/** Firms of two surnames or a made-up word; the same surnames in another order are another firm. */
export const firms: Kind = {
  name: 'firms',
  fields: [
    { name: 'name', kind: 'name' },
    { name: 'city', kind: 'choice', weight: 0.5 },
  ],
  make: (random) => ({
    name: random.of([
      () => `${random.word()} ${random.of(words.sectors)} ${random.of(words.forms)}`,
      () => `${random.of(words.surnames)} & ${random.of(words.surnames)} ${random.of(words.forms)}`,
      () => `${random.word()} ${random.of(words.forms)}`,
    ])(),
    city: random.of(words.cities),
  }),
  copy: (random, { name, city }) => ({
    name: random.happens(0.25)
      ? slip(random, `${name}`)
      : random.happens(0.5)
        ? withoutForm(`${name}`)
        : `${name}`.toUpperCase(),
    city: maybe(random, 0.4, city),
  }),
};

/** Hosts whose names differ in a number. */
export const hosts: Kind = {
  name: 'hosts with numbered names',
  fields: [
    { name: 'name', kind: 'name' },
    { name: 'serial', kind: 'code' },
    { name: 'model', kind: 'choice', weight: 0.5 },
  ],
  make: (random, at) => ({
    name: `${random.of(['srv', 'vm', 'sw', 'fw'])}-${random.of(words.cities).slice(0, 3).toLowerCase()}-${random.of(['web', 'db', 'app', 'file'])}-${`${at}`.padStart(4, '0')}`,
    serial: random.happens(0.5) ? `${random.word().toUpperCase()}${100_000 + random.below(900_000)}` : null,
    model: random.of(['R740', 'DL380', 'UCS', 'VMware']),
  }),
  copy: (random, { name, serial, model }) => ({
    name: random.happens(0.5) ? `${name}`.toUpperCase() : `${name}.corp.example.org`,
    serial: maybe(random, 0.5, serial),
    model: maybe(random, 0.3, model),
  }),
};
