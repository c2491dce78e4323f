/** Letters and digits only, in lower case: the form in which names are compared. */
export const fold = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
