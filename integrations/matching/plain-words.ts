/** Words of names that say nothing, and have no letter in an abbreviation by initials. */
const FILLERS = new Set(
  'a an and the of for in on to by de la le les du des et der die das und fur von el los y e di del il van het een en och og'.split(
    ' ',
  ),
);
/** What a thing is, in general: names that differ in these alone may well mean the same. */
const GENERAL = new Set(
  'system application platform tool software solution suite program module product company technology international global'.split(
    ' ',
  ),
);
/** Parts of the weight that their rarity would give them. */
const WEIGHTS = { filler: 0.2, general: 0.5 };

export const isFiller = (word: string): boolean => FILLERS.has(word);

/** Whether a word says something of its own, so that parts of it do, too. */
export const isTelling = (word: string): boolean => !FILLERS.has(word) && !GENERAL.has(word);

/** The part of the weight by its rarity that a word has: little where it says nothing, however rare it is in a list. */
export const weightOf = (word: string): number =>
  FILLERS.has(word) ? WEIGHTS.filler : GENERAL.has(word) ? WEIGHTS.general : 1;
