const NUMBER = /^([A-Z]{2,5})[- ]?0*([0-9]{1,9})$/i;

/**
 * The form in which numbers of cards are compared and ordered, as the function `card_number_key` of the database
 * returns it: `app-42` and `APP-00042` are the same number. Undefined for a text that is no number of a card.
 */
export function cardNumberKey(text: string): string | undefined {
  const [, prefix, digits] = NUMBER.exec(text.trim()) ?? [];
  return prefix && digits && `${prefix.toUpperCase()}-${digits.padStart(10, '0')}`;
}
