import { runRequests } from './run.ts';

const requests = Number(process.env.RANDOM_REQUESTS ?? 1_000);
const seed = Number(process.env.RANDOM_SEED ?? 1);

test(`${requests} requests at random, seed ${seed}`, async () => {
  const { table, faults, shortfalls } = await runRequests(requests, seed);
  console.log(table);
  for (const fault of faults) console.error(`FAULT ${fault}`);
  for (const shortfall of shortfalls) console.error(`SHORT ${shortfall}`);
  expect(faults, `seed ${seed}`).toEqual([]);
  expect(shortfalls, `seed ${seed}`).toEqual([]);
});
