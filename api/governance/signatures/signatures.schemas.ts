import Type from 'typebox';
import { BooleanOf, Choice, component, Nullable, Timestamp, Uuid } from '../../../domain/kernel/shapes.ts';

const Hash = Type.String({
  pattern: '^[0-9a-f]{64}$',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  description: 'SHA-256 of the signed content',
});

const SignatorySchema = component('Signatory', {
  user_id: Uuid,
  display_name: Type.String({ description: 'Empty for a deleted user' }),
  email: Type.String(),
  is_active: BooleanOf('Whether the account is active; no one else can sign in its place'),
  can_sign: BooleanOf('Whether it is active and its role may read and sign such documents'),
  status: Choice(['pending', 'signed']),
  signed_at: Nullable(Timestamp),
  content_hash: Nullable(Hash),
});
const RejectionSchema = component('Rejection', {
  user_id: Uuid,
  display_name: Type.String(),
  comment: Type.String(),
  rejected_at: Timestamp,
});

/** Members of every signed document; lists omit `integrity`. */
export const signedMembers = {
  created_by: Nullable(Uuid),
  creator_name: Nullable(Type.String()),
  signatories: Type.Array(SignatorySchema, {
    description: 'Empty unless it is in review or signed',
  }),
  signed_at: Nullable(Timestamp),
  revision_number: Type.Integer({ minimum: 1 }),
  parent_id: Nullable(Type.String({ ...Uuid, description: 'The previous revision, even if it was deleted' })),
  content_hash: Nullable(Hash),
  created_at: Timestamp,
  updated_at: Timestamp,
};
export const RejectionMember = Nullable(RejectionSchema);
export const IntegrityMember = Nullable(
  Choice(
    ['intact', 'changed'],
    'Whether the content still has the hash that was signed: `changed` means that the database was modified outside the service. Null before the first signature.',
  ),
);
