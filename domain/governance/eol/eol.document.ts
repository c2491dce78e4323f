import { isDay } from '../../kernel/dates.ts';
import type { CycleFacts, ProductFacts } from './eol.model.ts';

/** A document that is not valid in version 1 of the endoflife.date API; the message contains the location. */
export class InvalidFacts extends Error {
  override readonly name = 'InvalidFacts';
}

const MAX_TEXT = 300;
const MAX_LINK = 2_000;
const MAX_ALIASES = 50;
const MAX_CYCLES = 1_000;
/** Names are parts of addresses and values of attributes. */
const PRODUCT_NAME = /^[a-z0-9][a-z0-9._+-]{0,99}$/;
const CYCLE_NAME = /^[^\p{Cc}\s](?:[^\p{Cc}]{0,98}[^\p{Cc}\s])?$/u;

type Members = Record<string, unknown>;

function members(value: unknown, path: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new InvalidFacts(`${path} is no object`);
}

function list(value: unknown, path: string, most: number): unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.length <= most) return value;
  throw new InvalidFacts(`${path} is no list of at most ${most}`);
}

/** One line of text. */
function line(value: unknown, path: string, most = MAX_TEXT): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && value.length <= most && !/\p{Cc}/u.test(value)) return value;
  throw new InvalidFacts(`${path} is no text of one line and at most ${most} characters`);
}

function required(value: unknown, path: string, form: RegExp): string {
  if (typeof value === 'string' && form.test(value)) return value;
  throw new InvalidFacts(`${path} is missing or has no proper form`);
}

function day(value: unknown, path: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && isDay(value)) return value;
  throw new InvalidFacts(`${path} is no date as YYYY-MM-DD`);
}

function flag(value: unknown, path: string): boolean | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value;
  throw new InvalidFacts(`${path} is neither true nor false`);
}

/** Only addresses of the web: they are shown as links. */
function link(value: unknown, path: string): string | null {
  const text = line(value, path, MAX_LINK);
  return text !== null && /^https?:\/\//i.test(text) && URL.canParse(text) ? text : null;
}

function readCycle(value: unknown, path: string): CycleFacts {
  const given = members(value, path);
  const at = (member: string) => `${path}.${member}`;
  const latest = given.latest ? members(given.latest, at('latest')) : {};
  const eolFrom = day(given.eolFrom, at('eolFrom'));
  const supportUntil = day(given.eoasFrom, at('eoasFrom'));
  const isEoas = flag(given.isEoas, at('isEoas'));
  const ltsFrom = day(given.ltsFrom, at('ltsFrom'));
  const discontinuedFrom = day(given.discontinuedFrom, at('discontinuedFrom'));
  // A flag beside a date is the source's evaluation of the date on the day of the request.
  const unlessDated = (date: string | null, value: boolean | null) => (date === null ? value : null);
  return {
    cycle: required(given.name, at('name'), CYCLE_NAME),
    codename: line(given.codename, at('codename')),
    release_date: day(given.releaseDate, at('releaseDate')),
    support_until: supportUntil,
    is_supported: unlessDated(supportUntil, isEoas === null ? null : !isEoas),
    eol_from: eolFrom,
    is_eol: unlessDated(eolFrom, flag(given.isEol, at('isEol'))),
    lts_from: ltsFrom,
    is_lts: unlessDated(ltsFrom, flag(given.isLts, at('isLts'))),
    discontinued_from: discontinuedFrom,
    is_discontinued: unlessDated(discontinuedFrom, flag(given.isDiscontinued, at('isDiscontinued'))),
    latest: line(latest.name, at('latest.name')),
    latest_release_date: day(latest.date, at('latest.date')),
    link: link(latest.link, at('latest.link')),
  };
}

/**
 * A product as the API's `ProductDetails` describe it; members that are not known here are passed over.
 * @throws InvalidFacts saying what does not fit.
 */
export function readProduct(value: unknown, path: string): ProductFacts {
  const given = members(value, path);
  const at = (member: string) => `${path}.${member}`;
  const name = required(given.name, at('name'), PRODUCT_NAME);
  const cycles = list(given.releases, at('releases'), MAX_CYCLES).map((release, n) =>
    readCycle(release, `${path}.releases.${n}`),
  );
  const twice = cycles.find((one, n) => cycles.findIndex(({ cycle }) => cycle === one.cycle) < n);
  if (twice) throw new InvalidFacts(`${at('releases')} names ${twice.cycle} twice`);
  return {
    name,
    label: line(given.label, at('label')) ?? name,
    category: line(given.category, at('category')),
    aliases: list(given.aliases, at('aliases'), MAX_ALIASES).flatMap(
      (alias, n) => line(alias, at(`aliases.${n}`)) ?? [],
    ),
    link: given.links ? link(members(given.links, at('links')).html, at('links.html')) : null,
    cycles,
  };
}

/**
 * The names in the API's list of products.
 * @throws InvalidFacts
 */
export function readProductNames(document: unknown): string[] {
  const { result } = members(document, 'the list');
  if (!Array.isArray(result)) throw new InvalidFacts('the list contains no products');
  return result.map((product, n) =>
    required(members(product, `result.${n}`).name, `result.${n}.name`, PRODUCT_NAME),
  );
}
