import Type, { type Static } from 'typebox';
import { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import { MASK } from '../../../domain/kernel/settings/settings.read.ts';
import { BooleanOf, Choice, OptionalFlag, object, partialObject } from '../../../domain/kernel/shapes.ts';
import { ScheduledReport } from './scheduled-report.types.ts';

const sftpSecret = (maxLength: number, description: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength,
      description: `For sftp: ${description}; handled like \`secret_access_key\``,
    }),
  );

const sftpMembers = {
  host: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._:-]{1,253}$',
      examples: ['files.example.com'],
      description: 'For sftp: the name or address of the server; needed',
    }),
  ),
  port: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 65_535, examples: [22], description: 'For sftp; default 22' }),
  ),
  username: Type.Optional(
    // no control characters
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '^[^\\x00-\\x1f\\x7f]+$',
      description: 'For sftp; needed',
    }),
  ),
  folder: Type.Optional(
    Type.String({
      maxLength: 500,
      pattern: '^[^\\x00-\\x1f\\x7f]*$',
      examples: ['/incoming/estate'],
      description:
        'For sftp: an existing folder; by default the one in which the login begins. Use a different one for each schedule',
    }),
  ),
  host_key: Type.Optional(
    Type.String({
      pattern: '^SHA256:[A-Za-z0-9+/]{43}$',
      examples: ['SHA256:uNiVztksCsDhcc0u9e8BrmoU0lQYQ2mNSpuXW8m1qSY'],
      description:
        'For sftp: the fingerprint of the server’s key, as `ssh-keygen -l` writes it; needed. Nothing is sent to a server with another key',
    }),
  ),
  password: sftpSecret(500, 'the password, unless `private_key` is used'),
  private_key: sftpSecret(20_000, 'a private key in the format of OpenSSH or PuTTY'),
  passphrase: sftpSecret(500, 'the passphrase of `private_key`, if it has one'),
};

/** Where the files of a schedule are delivered. `toColumns` checks which members each kind has. */
export const Destination = object({
  kind: Choice(
    ['disk', 's3', 'sftp', 'mail', 'channel'],
    '`disk`: a separate folder in the data folder. `s3`: a bucket of an S3-compatible store. `sftp`: a folder of an SFTP server. `mail`: an attachment up to 10 MB, otherwise a link to the file. `channel`: a message with a link to the file',
  ),
  channel_id: Type.Optional(
    Type.String({
      format: 'uuid',
      pattern: '^[0-9a-fA-F-]{36}$',
      description: 'For channel: one of yours, or a shared one',
    }),
  ),
  recipients: Type.Optional(
    Type.Array(Type.String({ minLength: 3, maxLength: 320 }), {
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      description: 'For mail: addresses of active users, or of the domains in the setting `mail-recipients`',
    }),
  ),
  endpoint: Type.Optional(
    Type.Union([Type.String({ minLength: 1, maxLength: 500 }), Type.Null()], {
      description:
        'For s3: the URL of the store, such as `https://storage.example.com`; null: the endpoint of Amazon S3 in the region',
    }),
  ),
  region: Type.Optional(
    Type.String({ pattern: '^[a-z0-9-]{1,40}$', description: 'For s3; default `us-east-1`' }),
  ),
  bucket: Type.Optional(
    Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$', description: 'For s3; needed' }),
  ),
  prefix: Type.Optional(
    Type.String({
      // only characters that need no escaping
      pattern: "^([A-Za-z0-9!_.*'()-]+/)*[A-Za-z0-9!_.*'()-]*$",
      maxLength: 500,
      description:
        'For s3: prefix of each file’s name; ends with `/` for a folder. Use a different one for each schedule',
    }),
  ),
  path_style: OptionalFlag('For s3: whether the bucket is part of the path instead of the host name'),
  access_key_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '^[!-~]+$',
      examples: ['AKIAIOSFODNN7EXAMPLE'],
      description: 'For s3; needed',
    }),
  ),
  secret_access_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: `For s3: stored encrypted and shown as \`${MASK}\`; if omitted or sent like this, it does not change. Required again when the endpoint, the bucket or the access key id changes; for sftp when the host, the port, the user name or the host key does`,
    }),
  ),
  ...sftpMembers,
});
export type Destination = Static<typeof Destination>;

/** A bucket, without its secret. */
export interface S3Address {
  kind: 's3';
  /** Null: Amazon's. */
  endpoint: string | null;
  region: string;
  bucket: string;
  prefix: string;
  path_style: boolean;
  access_key_id: string;
}

/** A folder of an SFTP server. */
export interface SftpAddress extends Partial<Record<SftpSecret, string>> {
  kind: 'sftp';
  host: string;
  port: number;
  username: string;
  folder: string;
  host_key: string;
}

/** The secrets of an SFTP server; an address only has masks of those that are stored. */
export const sftpSecrets = ['password', 'private_key', 'passphrase'] as const;
type SftpSecret = (typeof sftpSecrets)[number];

/** A destination as it is stored. */
export type StoredDestination =
  | { kind: 'disk' }
  | { kind: 'mail'; recipients: string[] }
  | { kind: 'channel'; channel_id: string }
  | S3Address
  | SftpAddress;

const keepDays = {
  description: 'Files older than this number of days are removed, except the newest; null: no limit',
};

const members = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  /** Either this or `report`. */
  request: Type.Optional(ExportRequest),
  report: Type.Optional(ScheduledReport),
  cron: Type.String({ minLength: 1, maxLength: 200, examples: ['30 2 * * *'] }),
  time_zone: Type.String({ minLength: 1, maxLength: 100, examples: ['Europe/Berlin'] }),
  incremental: BooleanOf(
    'Whether a run only extracts changes since the last delivered run; the first run, and the first after a change of the request or the destination, extracts everything',
  ),
  destination: Destination,
  keep_runs: Type.Integer({
    minimum: 1,
    maximum: 1000,
    description: 'Number of succeeded runs whose files are retained',
  }),
  keep_days: Type.Union([Type.Integer({ minimum: 1, maximum: 3650 }), Type.Null()], keepDays),
};

export const ScheduleCreate = object({
  ...members,
  time_zone: Type.String({ ...members.time_zone, default: 'UTC' }),
  incremental: Type.Boolean({ ...members.incremental, default: false }),
  keep_runs: Type.Integer({ ...members.keep_runs, default: 30 }),
  keep_days: Type.Union(members.keep_days.anyOf, { ...keepDays, default: null }),
});
export type ScheduleCreate = Static<typeof ScheduleCreate>;

export const SchedulePatch = partialObject({
  ...members,
  status: Choice(['active', 'paused']),
});
export type SchedulePatch = Static<typeof SchedulePatch>;
