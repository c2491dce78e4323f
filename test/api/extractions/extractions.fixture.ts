import type { startS3 } from '../../emulators/s3.ts';
import type { SftpEmulator } from '../../emulators/sftp.ts';
import type { TestApp, TestClient } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';

export const base = '/api/v1/extraction-schedules';

/** A schedule of the applications as CSV, each night into the data folder. */
export const nightly = (more: object = {}) => ({
  name: 'Nightly',
  cron: '30 2 * * *',
  request: { format: 'csv', types: ['Application'] },
  destination: { kind: 'disk' },
  ...more,
});

/** The bucket of an emulated store as a destination. */
export const bucketOf = (s3: Awaited<ReturnType<typeof startS3>>, more: object = {}) => ({
  kind: 's3',
  endpoint: s3.endpoint,
  region: s3.credentials.region,
  bucket: s3.bucket,
  path_style: true,
  access_key_id: s3.credentials.accessKeyId,
  secret_access_key: s3.credentials.secretAccessKey,
  ...more,
});

/** The folder of an emulated SFTP server as a destination. */
export const folderOf = (server: SftpEmulator, more: object = {}) => ({
  kind: 'sftp',
  host: server.host,
  port: server.port,
  username: server.username,
  folder: server.folder,
  host_key: server.hostKey,
  password: server.password,
  ...more,
});

/** Starts a run and awaits its end; the bound of runs by hand does not count it. @returns the run. */
export async function runNow({ services }: TestApp, client: TestClient, id: string, status = 'succeeded') {
  await services.db('throttles').where('key', 'like', 'extraction:%').delete();
  const { body, ...started } = await client.post(`${base}/${id}/run`);
  if (started.status !== 202) throw new Error(`the run was not started: ${started.text}`);
  await untilStatus(services, body.job_id, status);
  return (await client.get(`${base}/${id}/runs/${body.run_id}`)).body;
}

/** The attached file of a mail. */
export const attachmentOf = (raw: string): Buffer =>
  Buffer.from(/filename=[^\n]*\r\n(?:[^\r\n]+\r\n)*\r\n([A-Za-z0-9+/=\r\n]+)\r\n--/.exec(raw)![1]!, 'base64');
