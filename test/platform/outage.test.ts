import { pino } from 'pino';
import { startStep } from '../../platform/outage.ts';
import { startupMessage } from '../../platform/startup.ts';

const log = pino({ level: 'silent' });
const errorOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.unreachable('it succeeded'),
    (error) => error,
  );
const failing = (code: string) => async () => {
  throw Object.assign(new Error('refused'), { code });
};
const sentence = 'The disk of /srv/estate is full: free some space or choose another folder with DATA_DIR.';

it.each(['53100', '57P02', 'ECONNREFUSED'])(
  'ends a start on a full disk with a sentence that names the folder: %s',
  async (code) => {
    const place = { log, disk: '/srv/estate', isDiskFull: async () => true };
    expect(startupMessage(await errorOf(startStep(place, failing(code))))).toBe(sentence);
  },
);

it('waits for a lost connection while the disk has room', async () => {
  let tries = 0;
  const answer = await startStep({ log, disk: '/srv/estate', isDiskFull: async () => false }, async () => {
    tries += 1;
    return tries < 3 ? await failing('57P02')() : 'done';
  });
  expect([answer, tries]).toEqual(['done', 3]);
});

it('names no folder of a server elsewhere', async () => {
  const error = await errorOf(startStep({ log, disk: undefined }, failing('53100')));
  expect(startupMessage(error)).toBe("The database's disk is full: free some space.");
});
