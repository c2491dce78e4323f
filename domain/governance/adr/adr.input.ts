import Type from 'typebox';
import { MAX_ENTRIES, MAX_ENTRY } from './adr.types.ts';

/** People, or other decisions, that a decision names. */
export const AdrEntries = Type.Array(Type.String({ maxLength: MAX_ENTRY }), { maxItems: MAX_ENTRIES });
