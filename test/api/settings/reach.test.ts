import { describe, expect, it } from 'vitest';
import { settingReach } from '../../../domain/app/settings/settings.change.ts';
import { appPermissions } from '../../../domain/kernel/permissions/permissions.data.ts';
import {
  type SettingKey,
  secretMembers,
  settingDefaults,
} from '../../../domain/kernel/settings/settings.read.ts';
import { expectProblem, ok, openApp } from '../../support/harness.ts';
import changes from './reach.changes.json' with { type: 'json' };

const { t, db, admin } = await openApp(['admin']);
/** May change settings, and nothing else. */
const keeper = await t.holding('admin.settings');
/** Holds every permission by its key, which is not the wildcard of administrators. */
const almost = await t.holding(...Object.keys(appPermissions));

const root = '/api/v1/settings';
const keys = Object.keys(settingDefaults) as SettingKey[];

/** One change of each member that reaches every account. */
const everyAccount: [string, string, object][] = changes as [string, string, object][];

describe('a change of a setting that leads to the rights of every account', () => {
  it('is tried here for each of them', () => {
    const declared = keys.flatMap((key) => {
      const reach = settingReach(key);
      if (typeof reach === 'string' || Array.isArray(reach)) return reach === 'every account' ? [key] : [];
      return Object.entries(reach).flatMap(([member, of]) => (of === 'every account' ? [member] : []));
    });
    expect(everyAccount.map(([, member]) => member).sort()).toEqual(declared.sort());
  });

  it('is refused for an address that is not connected to, after the rights', async () => {
    const port = { smtp_host: 'mail.estate.example', smtp_port: 6379 };
    await expectProblem(almost.patch(`${root}/email`, port), 403);
    const { status, body } = await admin.patch(`${root}/email`, port);
    expect([status, body.errors]).toEqual([
      422,
      [
        {
          field: 'smtp_port',
          code: 'refused_address',
          message: 'uses port 6379; OUTBOUND_ALLOW can allow it as host:port',
        },
      ],
    ]);
  });

  it.each(everyAccount)('%s %s needs the rights of administrators', async (path, _member, body) => {
    const before = (await admin.get(`${root}/${path}`)).body;
    for (const client of [keeper, almost]) {
      await expectProblem(client.patch(`${root}/${path}`, body), 403, 'forbidden');
    }
    expect((await admin.get(`${root}/${path}`)).body).toEqual(before);
    await ok(admin.patch(`${root}/${path}`, body));
  });
});

it('states the reach of every secret', () => {
  for (const [key, secret] of Object.entries(secretMembers)) {
    expect(settingReach(key as SettingKey)).toMatchObject({ [secret]: 'every account' });
  }
});

it('leaves what leads nowhere to whoever may change settings', async () => {
  for (const [path, body] of [
    ['login-branding', { login_help_text: 'Call 4711' }],
    ['ai', { tokens_per_run: 1_000 }],
    ['retention', { jobs_days: 30 }],
    ['notification-digest', { minutes: 30 }],
    // what is sent as it stands is no change
    ['email', { smtp_tls: (await admin.get(`${root}/email`)).body.smtp_tls }],
  ] as const) {
    await ok(keeper.patch(`${root}/${path}`, body));
  }
});

it('needs the permission that a setting leads to', async () => {
  const days = { days: 1 };
  await expectProblem(keeper.patch(`${root}/archive-retention-days`, days), 403, 'inventory.delete');
  const remover = await t.holding('admin.settings', 'inventory.delete');
  await ok(remover.patch(`${root}/archive-retention-days`, days));
  const hidden = await keeper.patch(`${root}/bpm-enabled`, { enabled: false });
  expect(hidden.body.permission).toBe('admin.metamodel');
  await expectProblem(keeper.patch(`${root}/eol-source`, { url: '' }), 403, 'eol.manage');
});

it('opens registration only with the rights of the role that newcomers get', async () => {
  const { enabled } = (await admin.get(`${root}/registration`)).body;
  const role = await db('roles').where({ is_default: true }).first('permissions');
  const equal = await t.holding('admin.settings', ...Object.keys(role.permissions));
  for (const wanted of [!enabled, enabled]) {
    await expectProblem(keeper.patch(`${root}/registration`, { enabled: wanted }), 403);
    await ok(equal.patch(`${root}/registration`, { enabled: wanted }));
  }
});
