import Type from 'typebox';
import { ExportRequest } from '../../domain/exchange/exports/export.job.ts';
import { Card, Lifecycle } from '../../domain/inventory/cards/cards.model.ts';
import { Nullable, OpenObject, object, Position, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

const Text = Nullable(Type.String());

/** A card as the JSON export shows it. */
export const ExportedCard = object({
  id: Uuid,
  type: Type.String(),
  subtype: Text,
  name: Type.String(),
  description: Text,
  lifecycle: Nullable(Lifecycle),
  attributes: OpenObject,
  status: Card.columns.status,
  data_quality: Type.Number(),
  updated_at: Timestamp,
  tags: Type.Array(object({ name: Type.String(), color: Text, group_name: Type.String() })),
  owner: Text,
  owner_email: Text,
  provider_names: Type.Array(Type.String()),
  relations: Type.Optional(
    Type.Array(
      object({
        id: Uuid,
        type: Type.String(),
        direction: Type.Union([Type.Literal('outgoing'), Type.Literal('incoming')]),
        peer_id: Uuid,
        peer_type: Type.String(),
        peer_name: Type.String(),
        attributes: OpenObject,
        description: Text,
      }),
    ),
  ),
  stakeholders: Type.Optional(
    Type.Array(
      object({ user_id: Uuid, display_name: Type.String(), email: Type.String(), role: Type.String() }),
    ),
  ),
});

const { properties } = ExportRequest;

/** Describes an export's file for programs that load it. */
export const ManifestSchema = object({
  format: properties.format,
  kind: properties.kind,
  types: properties.types,
  filter: properties.filter,
  columns: properties.columns,
  include: properties.include,
  profile: properties.profile,
  neutralise: properties.neutralise,
  after: Nullable(
    Type.String({ description: 'The position after which changes were extracted; null for a full export' }),
  ),
  position: Position,
  taken_at: Timestamp,
  tables: Type.Array(
    object({
      name: Type.String(),
      rows: Type.Integer(),
      columns: Type.Array(object({ name: Type.String(), type: Type.String() })),
    }),
  ),
  file: object({
    name: Type.String(),
    size: Type.Integer({ description: 'Bytes' }),
    sha256: Type.String(),
  }),
});
