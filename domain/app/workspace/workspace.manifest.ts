import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';

/** The description of an archive. */
export const FORMAT = 'estate-workspace';
/** Increases with every change of the format that older services cannot read. */
export const FORMAT_VERSION = '1.0';
export const MANIFEST = 'manifest.json';

/** The rows of a table, one in each line. */
export const rowsName = (kind: string): string => `content/${kind}.ndjson`;
/** The name of the part with the content of a stored file. */
export const blobName = (id: string): string => `blobs/${id}`;

const Part = Type.Object({
  name: Type.String({ maxLength: 200 }),
  bytes: Type.Integer({ minimum: 0 }),
  /** Hexadecimal. */
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** For a file of rows: the table, the number of rows, and their columns. */
  kind: Type.Optional(Type.String({ maxLength: 100 })),
  rows: Type.Optional(Type.Integer({ minimum: 0 })),
  columns: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 200 })),
});
export type ArchivePart = Static<typeof Part>;

const Manifest = Type.Object({
  format: Type.Literal(FORMAT),
  format_version: Type.String({ pattern: '^[0-9]{1,4}\\.[0-9]{1,4}$' }),
  service_version: Type.String({ maxLength: 100 }),
  schema_version: Type.String({ maxLength: 200 }),
  /** The feed position that the rows include. */
  position: Type.String({ maxLength: 30 }),
  created_at: Type.String({ maxLength: 40 }),
  source_url: Type.Union([Type.String({ maxLength: 2_000 }), Type.Null()]),
  include_archived: Type.Boolean(),
  files: Type.Array(Part),
  left_out: Type.Array(Type.Object({ table: Type.String(), class: Type.String(), why: Type.String() })),
});
export type Manifest = Static<typeof Manifest>;

/** Why an archive is refused; the message is returned to the user. */
export class ArchiveError extends Error {}

/** The manifest of a supported archive. @throws ArchiveError */
export function readManifest(text: string, schema: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ArchiveError('manifest.json is no JSON.');
  }
  const { format, format_version: version } = (value ?? {}) as Record<string, unknown>;
  if (format !== FORMAT)
    throw new ArchiveError('It is no archive of a workspace: manifest.json does not say so.');
  if (typeof version === 'string' && isNewer(version)) {
    throw new ArchiveError(
      `The archive has the format ${version.slice(0, 20)}, and this service reads up to ${FORMAT_VERSION}: import it with a newer version.`,
    );
  }
  const fault = Value.Errors(Manifest, value)[0];
  if (fault) throw new ArchiveError(`manifest.json${fault.instancePath} ${fault.message}.`);
  const manifest = value as Manifest;
  if (manifest.schema_version > schema) {
    throw new ArchiveError(
      `The archive was made by a newer version (schema ${manifest.schema_version}, here ${schema}): import it with that version or a later one.`,
    );
  }
  return manifest;
}

function isNewer(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [ours = 0, small = 0] = FORMAT_VERSION.split('.').map(Number);
  return major > ours || (major === ours && minor > small);
}
