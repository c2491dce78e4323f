import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { authority } from '../../emulators/certificates.ts';
import { type Api, untilDone } from './api.ts';
import { repositoryRoot } from './processes.ts';

/** A remote in a process of its own, which tells of itself and answers messages. */
export interface RemoteProcess<Hello, Asked, Told> {
  hello: Hello & { base: string };
  ask(message: Asked): Promise<Told>;
  stop(): void;
}

/** Starts a remote. @param script its name in the folder of the scenarios. */
export async function startRemote<Hello, Asked extends object, Told>(
  script: string,
  ...args: number[]
): Promise<RemoteProcess<Hello, Asked, Told>> {
  const child = fork(path.join(repositoryRoot, 'test/bench/scenarios', script), args.map(String), {
    execPath: process.execPath,
  });
  const [hello] = (await once(child, 'message')) as [Hello & { base: string }];
  return {
    hello,
    async ask(message) {
      const answer = once(child, 'message');
      child.send(message);
      return ((await answer) as [Told])[0];
    },
    stop: () => child.disconnect(),
  };
}

/** Maps applications to a table of a remote, whose plans are applied by themselves. @returns the mapping's id. */
export async function mapApplications(api: Api, base: string, more: object): Promise<string> {
  const connection = await api.post<{ id: string }>('/itsm-sync/connections', {
    name: 'Remote',
    instance_url: base,
    username: 'estate',
    password: 'secret',
    ca: authority,
  });
  const mapping = await api.post<{ id: string }>('/itsm-sync/mappings', {
    connection_id: connection.id,
    card_type_key: 'Application',
    remote_table: 'cmdb_ci_business_app',
    auto_apply: true,
    field_mappings: [
      { card_field: 'name', remote_field: 'name', is_identity: true },
      { card_field: 'description', remote_field: 'short_description' },
    ],
    ...more,
  });
  return mapping.id;
}

/** A run as the service shows it. */
export interface SyncRun {
  id: string;
  status: string;
  stats: Record<string, number> & { seconds: Record<string, number> };
}

/** Starts a run and waits for its end. */
export async function runOnce(api: Api, mappingId: string): Promise<SyncRun> {
  const { id, job_id } = await api.post<{ id: string; job_id: string }>(
    `/itsm-sync/sync/run/${mappingId}`,
    {},
  );
  await untilDone(api, job_id);
  return await api.get<SyncRun>(`/itsm-sync/sync/runs/${id}`);
}
