/** Letters and digits alone, in small ones: how names of the same thing are compared. */
export const fold = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
