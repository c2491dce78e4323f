import Type, { type Static } from 'typebox';
import { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import { MASK } from '../../../domain/kernel/settings/settings.secrets.ts';
import { object } from '../../../domain/kernel/shapes.ts';

/** Where the files of a schedule go, as it is asked for; which members a kind has is checked beside the schema. */
export const Destination = object({
  kind: Type.Union([Type.Literal('disk'), Type.Literal('s3'), Type.Literal('mail')], {
    description:
      '`disk`: a folder of the schedule’s own in the data folder. `s3`: a bucket of an S3-compatible store. `mail`: an attachment up to 10 MB, else a link to the file',
  }),
  recipients: Type.Optional(
    Type.Array(Type.String({ minLength: 3, maxLength: 320 }), {
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      description: 'For mail: addresses',
    }),
  ),
  endpoint: Type.Optional(
    Type.Union([Type.String({ minLength: 1, maxLength: 500 }), Type.Null()], {
      description:
        'For s3: the address of the store, such as `https://storage.example.com`; null: Amazon’s of the region',
    }),
  ),
  region: Type.Optional(
    Type.String({ pattern: '^[a-z0-9-]{1,40}$', description: 'For s3; `us-east-1` unless given' }),
  ),
  bucket: Type.Optional(
    Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$', description: 'For s3; needed' }),
  ),
  prefix: Type.Optional(
    Type.String({
      // nothing that has to be escaped
      pattern: "^([A-Za-z0-9!_.*'()-]+/)*[A-Za-z0-9!_.*'()-]*$",
      maxLength: 500,
      description:
        'For s3: stands before each file’s name; ends with `/` for a folder. Give each schedule its own',
    }),
  ),
  path_style: Type.Optional(
    Type.Boolean({
      description: 'For s3: whether the bucket stands in the path and not in the host’s name',
    }),
  ),
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
      description: `For s3: kept encrypted and shown as \`${MASK}\`; left out or sent so, it stays as it is. Needed again when the address, the bucket or the key’s id changes`,
    }),
  ),
});
export type Destination = Static<typeof Destination>;

/** A bucket, without what opens it. */
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

/** A destination as it is stored. */
export type StoredDestination = { kind: 'disk' } | { kind: 'mail'; recipients: string[] } | S3Address;

const cron = Type.String({ minLength: 1, maxLength: 200, examples: ['30 2 * * *'] });
const timeZone = Type.String({ minLength: 1, maxLength: 100, examples: ['Europe/Berlin'] });
const name = Type.String({ minLength: 1, maxLength: 200 });
const keepRuns = { minimum: 1, maximum: 1000, description: 'Files of so many succeeded runs are kept' };
const incremental = {
  description:
    'Whether a run extracts only what has changed since the last one that was delivered; the first one, and the first after a change of the request or the destination, extracts all',
};
const keepDays = { minimum: 1, maximum: 3650 };

export const ScheduleCreate = object({
  name,
  cron,
  time_zone: Type.String({ ...timeZone, default: 'UTC' }),
  request: ExportRequest,
  incremental: Type.Boolean({ ...incremental, default: false }),
  destination: Destination,
  keep_runs: Type.Integer({ ...keepRuns, default: 30 }),
  keep_days: Type.Union([Type.Integer(keepDays), Type.Null()], {
    default: null,
    description: 'Files older than so many days are removed, but for the newest; null: whatever their age',
  }),
});
export type ScheduleCreate = Static<typeof ScheduleCreate>;

export const SchedulePatch = object({
  name: Type.Optional(name),
  cron: Type.Optional(cron),
  time_zone: Type.Optional(timeZone),
  status: Type.Optional(Type.Union([Type.Literal('active'), Type.Literal('paused')])),
  request: Type.Optional(ExportRequest),
  incremental: Type.Optional(Type.Boolean(incremental)),
  destination: Type.Optional(Destination),
  keep_runs: Type.Optional(Type.Integer(keepRuns)),
  keep_days: Type.Optional(Type.Union([Type.Integer(keepDays), Type.Null()])),
});
export type SchedulePatch = Static<typeof SchedulePatch>;
