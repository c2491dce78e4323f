/** What separates the decimals and the thousands. */
const marks = {
  en: { decimal: '.', group: ',' },
  de: { decimal: ',', group: '.' },
};
type Language = keyof typeof marks;

/**
 * The number that people mean by a text: `12.345` is twelve thousand in German and twelve in English. Spaces and
 * apostrophes separate thousands in both. A point that cannot separate thousands separates decimals.
 * @returns undefined for a text that is no number.
 */
export function numberOf(text: string, language: Language): number | undefined {
  const { decimal, group } = marks[language];
  const plain = text.replace(/[\s\u00a0\u202f'’]/g, '').replace(/^\u2212/, '-');
  const [d, g] = [`\\${decimal}`, `\\${group}`];
  const known = new RegExp(`^-?(\\d+|\\d{1,3}(${g}\\d{3})+)(${d}\\d+)?$`);
  if (known.test(plain)) return Number(plain.replaceAll(group, '').replace(decimal, '.'));
  return /^-?\d+\.\d+$/.test(plain) ? Number(plain) : undefined;
}

/** A number as {@link numberOf} reads it. */
export const numberText = (value: number, language: Language): string =>
  String(value).replace('.', marks[language].decimal);

/** A value of a field as text to edit. */
export const editText = (value: unknown, language: Language): string =>
  typeof value === 'number' ? numberText(value, language) : String(value ?? '');

/** Whether a field holds numbers. */
export const isNumeric = ({ type }: { type: string }): boolean => type === 'number' || type === 'cost';

/** The value of an edited text of a field; what is no number stays text, so that the service names the reason. */
export function valueOfText(field: { type: string }, text: string, language: Language): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  return (isNumeric(field) ? numberOf(trimmed, language) : undefined) ?? trimmed;
}
