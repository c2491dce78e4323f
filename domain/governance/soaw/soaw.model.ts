import Type from 'typebox';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, OpenObject, Uuid } from '../../kernel/shapes.ts';
import { signedColumns, signedStatuses } from '../signatures/signatures.types.ts';
import { type DocumentInfo, MAX_NAME, type Section, type VersionEntry } from './soaw.types.ts';

/** A revision of a statement of architecture work. */
export class Soaw extends rowModel(
  'soaws',
  {
    id: Uuid,
    name: Type.String({ minLength: 1, maxLength: MAX_NAME }),
    initiative_id: Nullable(Type.String({ ...Uuid, description: 'A card of the type Initiative' })),
    document_info: Type.Unsafe<DocumentInfo>(OpenObject),
    version_history: Type.Unsafe<VersionEntry[]>(Type.Array(OpenObject)),
    sections: Type.Unsafe<Record<string, Section>>(OpenObject),
    status: Choice(signedStatuses),
    ...signedColumns,
  },
  ['document_info', 'version_history', 'sections', 'signatories', 'rejection'],
) {}
export type SoawRow = RowOf<typeof Soaw>;
