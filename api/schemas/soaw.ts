import Type from 'typebox';
import { signedStatuses } from '../../domain/governance/signatures/signatures.types.ts';
import {
  DocumentHead,
  entry,
  info,
  MAX_NAME,
  SectionSchema,
  Sections,
  sections,
  VersionHistory,
} from '../../domain/governance/soaw/soaw.model.ts';
import { component, itemComponent, Nullable, object, Uuid } from '../../domain/kernel/shapes.ts';
import { bodiesOf } from './common.ts';
import { IntegrityMember, RejectionMember, signedMembers } from './signatures.ts';

const Status = Type.Union(signedStatuses.map((status) => Type.Literal(status)));
const content = {
  name: Type.String({ minLength: 1, maxLength: MAX_NAME }),
  initiative_id: Nullable(Type.String({ ...Uuid, description: 'A card of the type Initiative' })),
  document_info: object(info),
  version_history: Type.Array(object(entry)),
  sections: sections(SectionSchema),
};
const soaw = {
  id: Uuid,
  ...content,
  initiative_name: Nullable(Type.String()),
  status: Status,
  ...signedMembers,
  rejection: RejectionMember,
};
export const SoawSchema = component('Soaw', { ...soaw, integrity: IntegrityMember });
/** A statement in a list, with the requested members. */
export const SoawItemSchema = itemComponent('SoawItem', soaw);

const bodies = bodiesOf(
  { name: content.name },
  {
    initiative_id: content.initiative_id,
    document_info: Nullable(DocumentHead),
    version_history: Nullable(VersionHistory),
    sections: Nullable(Sections),
  },
);
export const SoawCreateBody = object({
  ...bodies.create.properties,
  status: Type.Optional(Type.String({ description: '`draft`; others are refused with `use_operation`' })),
});
export const SoawPatchBody = object({
  ...bodies.patch.properties,
  status: Type.Optional(
    Nullable(
      Type.String({
        description: 'Can change between `draft` and `approved`; others are refused with `use_operation`',
      }),
    ),
  ),
});
