import { fold } from '../../../platform/fold.ts';
import vocabulary from './vocabulary.json' with { type: 'json' };
import { keyByWord, listed } from './vocabulary.ts';

const { groups, otherNames } = vocabulary.regions;
const languages = listed(vocabulary.regions.languages);
const continents = listed(vocabulary.regions.continents);
/** Directions at the end of names, which distinguish sites. */
const directions = keyByWord(vocabulary.regions.directions);
/** ISO 3166 codes that are recognised at the end of names: those of larger economies that are not words. */
const codes = new Set(listed(vocabulary.regions.codes));
/** Region codes that are not countries: the eurozone, the United Nations, unknown and invented ones. */
const NOT_A_COUNTRY = /^(?:EZ|UN|EU|ZZ|QO|X[A-JL-Z])$/;

interface Regions {
  byName: ReadonlyMap<string, string>;
  /** The first words of region names. */
  firstWords: ReadonlySet<string>;
  /** The words that {@link regionWord} makes. */
  written: ReadonlySet<string>;
  english: Intl.DisplayNames;
}

/** Computed on first use, since it takes about 50 ms. */
const regions = lazy((): Regions => {
  const byName = new Map<string, string>();
  for (const language of languages) {
    const show = new Intl.DisplayNames([language], { type: 'region', fallback: 'none' });
    for (const code of [...continents, ...countries(show)]) {
      const name = fold(show.of(code) ?? '');
      if (name && !byName.has(name)) byName.set(name, present(code));
    }
  }
  for (const [name, region] of Object.entries(otherNames)) byName.set(name, region);
  for (const [word, region] of keyByWord(groups)) byName.set(word, region);
  for (const name of listed(vocabulary.regions.notCountries)) byName.delete(name);
  const english = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });
  return {
    byName,
    firstWords: new Set([...byName.keys()].map((name) => name.split(' ', 1)[0]!)),
    written: new Set([...byName.values()].map((region) => writtenIn(english, region))),
    english,
  };
});

function lazy<T extends object>(make: () => T): () => T {
  const made: { value?: T } = {};
  return () => {
    made.value ??= make();
    return made.value;
  };
}

/** The current code of a former one: `DE` for `DD`. */
const present = (code: string): string => new Intl.Locale(`und-${code}`).region!.toLowerCase();

function countries(show: Intl.DisplayNames): string[] {
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(65 + at));
  return letters
    .flatMap((first) => letters.map((second) => `${first}${second}`))
    .filter((code) => !NOT_A_COUNTRY.test(code) && show.of(code));
}

/** The region of a folded name of one to three words: an ISO 3166 code in lower case, or the name of a group. */
export const regionNamed = (name: string): string | undefined => regions().byName.get(name);

/** Whether the name of a region begins with the folded word. */
export const beginsRegion = (word: string): boolean => regions().firstWords.has(word);

/** Maximum number of words of a region name. */
export const MOST_REGION_WORDS = 3;

/** The direction of a folded word at the end of a name. */
export const directionNamed = (word: string): string | undefined => directions.get(word);

/** A region of regionNamed, or a direction, as one English word. */
export const regionWord = (region: string): string => writtenIn(regions().english, region);

function writtenIn(english: Intl.DisplayNames, region: string): string {
  if (region in groups || /^[a-z]{3,}$/.test(region)) return region;
  const code = /^\d+$/.test(region) ? region : region.toUpperCase();
  return fold(english.of(code) ?? region).replaceAll(' ', '');
}

/** Whether a folded word names a region, also as {@link regionWord} writes it. */
export const isRegionWord = (word: string): boolean =>
  regions().byName.has(word) || regions().written.has(word);

/** The country of an ISO 3166 code in a name, written as two capitals. */
export function regionOfCode(code: string): string | undefined {
  if (code === 'UK') return 'gb';
  if (code === 'EU') return 'eu';
  const lower = code.toLowerCase();
  return /^[A-Z]{2}$/.test(code) && codes.has(lower) ? lower : undefined;
}
