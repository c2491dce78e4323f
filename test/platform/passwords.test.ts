import { createPasswords } from '../../platform/passwords.ts';

const password = 'a quiet horse';
const shipped = createPasswords();
const cheap = createPasswords({ logN: 8, r: 8, p: 1 });
const hash = await shipped.hash(password);

it('a hash costs what OWASP asks for, has its own salt, and fits its password only', async () => {
  expect(hash).toMatch(/^scrypt\$15\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
  expect(await shipped.verify(password, hash)).toBe(true);
  expect(await shipped.verify('a quiet hors', hash)).toBe(false);
  expect(await shipped.hash(password)).not.toBe(hash);
});

it('a hash is checked at the cost that it was made with', async () => {
  const other = await cheap.hash(password);
  expect(other).toMatch(/^scrypt\$8\$8\$1\$/);
  expect(await shipped.verify(password, other)).toBe(true);
  expect(await cheap.verify(password, hash)).toBe(true);
});

it('nothing fits what is no hash, or none', async () => {
  for (const stored of ['', 'md5$x', 'scrypt$8$8$1$$', null, undefined]) {
    expect(await cheap.verify(password, stored), String(stored)).toBe(false);
    expect(await cheap.verify('no account has this password', stored), String(stored)).toBe(false);
  }
});

it('takes as long without a hash as with one', async () => {
  // the least of three: others in the process take processor time, too
  const took = async (stored: string | null) => {
    const times: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const before = process.cpuUsage();
      await shipped.verify('something else', stored);
      times.push(process.cpuUsage(before).user);
    }
    return Math.min(...times);
  };
  await shipped.verify('something else', null);
  expect(await took(null)).toBeGreaterThan((await took(hash)) / 2);
});
