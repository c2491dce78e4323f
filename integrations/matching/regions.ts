import { fold } from './normalise.ts';

/** Languages in which countries and continents are known by name. */
const LANGUAGES = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'nl',
  'pt',
  'pl',
  'sv',
  'da',
  'nb',
  'fi',
  'cs',
  'tr',
  'ru',
  'ja',
  'zh',
];
/** Groups of countries as companies speak of them. */
const GROUPS: Record<string, string> = {
  emea: 'emea',
  apac: 'apac',
  latam: 'latam',
  dach: 'dach',
  benelux: 'benelux',
  nordics: 'nordics nordic',
  cee: 'cee',
  mena: 'mena',
  anz: 'anz',
};
/** Directions as sites are told apart by them, at the end of names. */
const DIRECTIONS = new Map(
  Object.entries({
    north: 'north nord norte noord norr pohjoinen sever polnoc',
    south: 'south sud sur sul zuid syd etela jih poludnie',
    east: 'east ost est este leste oost oster ita vychod wschod',
    west: 'west ouest oeste ovest vast lansi zapad zachod',
    central: 'central mitte centre centro centrum zentral',
  }).flatMap(([direction, words]) => words.split(' ').map((word) => [word, direction] as const)),
);
/** Countries by other names than those of Unicode. */
const OTHERS: Record<string, string> = {
  usa: 'us',
  uk: 'gb',
  'united kingdom': 'gb',
  'great britain': 'gb',
  uae: 'ae',
  holland: 'nl',
  czechia: 'cz',
  korea: 'kr',
  america: 'us',
};
/** ISO 3166 codes that are taken for countries at the end of names: those of the larger economies that are no word. */
const CODES = new Set(
  'ae ar at au be bg br ca ch cl cn cz de dk eg es fi fr gb gr hk hu ie il jp kr lu mx nl nz pl pt ro ru sg sk th tr tw ua us vn za'.split(
    ' ',
  ),
);
/** Codes of no country: the eurozone, the United Nations, what is unknown or invented. */
const NOT_A_COUNTRY = /^(?:EZ|UN|EU|ZZ|QO|X[A-JL-Z])$/;
/** First names and things before they are countries. */
const NO_COUNTRIES = ['chad', 'jersey', 'jordan', 'turkey', 'georgia', 'guinea'];
const CONTINENTS = ['002', '150', '142', '009', '019', '003', '005', '021', '155', '151', '154', '039'];

let made: Map<string, string> | undefined;
/** The first words of their names. */
const firsts = new Set<string>();

/** Regions by name; made when first asked for, from what Unicode knows of countries. */
function known(): Map<string, string> {
  if (made) return made;
  const names = new Map<string, string>();
  for (const language of LANGUAGES) {
    const show = new Intl.DisplayNames([language], { type: 'region', fallback: 'none' });
    for (const code of [...CONTINENTS, ...countries(show)]) {
      const name = fold(show.of(code) ?? '');
      if (name && !names.has(name)) names.set(name, present(code));
    }
  }
  for (const [name, region] of Object.entries(OTHERS)) names.set(name, region);
  for (const [region, words] of Object.entries(GROUPS))
    for (const word of words.split(' ')) names.set(word, region);
  for (const name of NO_COUNTRIES) names.delete(name);
  for (const name of names.keys()) firsts.add(name.split(' ', 1)[0]!);
  made = names;
  return names;
}

/** The code that a former one became: `DD` is `DE`. */
const present = (code: string): string => new Intl.Locale(`und-${code}`).region!.toLowerCase();

function countries(show: Intl.DisplayNames): string[] {
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(65 + at));
  return letters
    .flatMap((first) => letters.map((second) => `${first}${second}`))
    .filter((code) => !NOT_A_COUNTRY.test(code) && show.of(code));
}

/** The region that a folded name of one to three words stands for: an ISO 3166 code in small letters, or a name of a group. */
export const regionNamed = (name: string): string | undefined => known().get(name);

/** Whether the name of a region begins with the folded word. */
export function beginsRegion(word: string): boolean {
  known();
  return firsts.has(word);
}

/** Words that the name of a region has at most. */
export const MOST_REGION_WORDS = 3;

/** The direction that a folded word stands for at the end of a name. */
export const directionNamed = (word: string): string | undefined => DIRECTIONS.get(word);

/** A region of regionNamed, or a direction, as one English word. */
export function regionWord(region: string): string {
  if (region in GROUPS || /^[a-z]{3,}$/.test(region)) return region;
  const code = /^\d+$/.test(region) ? region : region.toUpperCase();
  english ??= new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });
  return fold(english.of(code) ?? region).replaceAll(' ', '');
}
let english: Intl.DisplayNames | undefined;

/** The country of an ISO 3166 code as it is written in a name: two capitals. */
export function regionOfCode(code: string): string | undefined {
  if (code === 'UK') return 'gb';
  if (code === 'EU') return 'eu';
  const small = code.toLowerCase();
  return /^[A-Z]{2}$/.test(code) && CODES.has(small) ? small : undefined;
}
