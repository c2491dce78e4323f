import Type from 'typebox';
import { closed, Nullable, OpenObject, oneOf, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

export const SavedReportType = oneOf(
  'portfolio',
  'flexible-portfolio',
  'capability-map',
  'lifecycle',
  'dependencies',
  'cost',
  'matrix',
  'data-quality',
  'eol',
);
const Visibility = oneOf('private', 'shared', 'public');
const Name = Type.String({ minLength: 1, maxLength: 200 });
const Config = Type.Object({}, { additionalProperties: true, description: 'Whatever the client needs' });

const members = {
  description: Type.Optional(Nullable(Type.String({ maxLength: 10_000 }))),
  thumbnail: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 100_000,
        pattern: '^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/]+=*$',
        description: 'A small picture as a `data:` address: PNG, JPEG or WebP',
      }),
    ),
  ),
  visibility: Type.Optional(Visibility),
  shared_with: Type.Optional(
    Nullable(
      Type.Array(Uuid, { maxItems: 200, description: 'Users who see it while its visibility is `shared`' }),
    ),
  ),
};

export const SavedReportCreateBody = Type.Object(
  { name: Name, report_type: SavedReportType, config: Config, ...members },
  closed,
);
export const SavedReportPatchBody = Type.Object(
  { name: Type.Optional(Name), config: Type.Optional(Config), ...members },
  closed,
);

export const SavedReportSchema = Type.Object(
  {
    id: Uuid,
    owner_id: Uuid,
    owner_name: Nullable(Type.String()),
    name: Type.String(),
    description: Nullable(Type.String()),
    report_type: SavedReportType,
    config: OpenObject,
    thumbnail: Nullable(
      Type.String({
        description:
          'Null for readers without `costs.view` if its owner saw costs when it was stored, since it may show them',
      }),
    ),
    visibility: Visibility,
    shared_with: Type.Array(Uuid),
    shared_with_users: Type.Array(Type.Object({ id: Uuid, display_name: Nullable(Type.String()) }, closed)),
    is_owner: Type.Boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'SavedReport', ...closed },
);
/** A saved report in a list, cut to the members that were asked for. */
export const SavedReportItemSchema = Type.Partial(SavedReportSchema, { $id: 'SavedReportItem', ...closed });
