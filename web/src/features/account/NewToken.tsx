import { Button, MultiSelect, NumberInput, SegmentedControl, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, createToken } from '#client';
import { useSubmit } from '../../kit/forms.ts';
import { useTexts } from '../../kit/messages.tsx';
import { isAllowed, queryClient, useMe } from '../../shell/queries.ts';
import styles from './account.module.css';
import { permissionsQuery, tokensQuery } from './account.queries.ts';

const DAY_MS = 86_400_000;

type Range = 'read' | 'all' | 'chosen';

/** Names a token, limits it and creates it. */
export function NewToken({ onDone }: { onDone(token: string): void }) {
  const t = useTexts();
  const { permissions } = useMe();
  const { data: groups = {} } = useQuery(permissionsQuery);
  const [name, setName] = useState('');
  const [days, setDays] = useState<number>(90);
  const [range, setRange] = useState<Range>('read');
  const [chosen, setChosen] = useState<string[]>([]);
  const mine = Object.values(groups).map(({ label, permissions: keys }) => ({
    group: label,
    items: Object.entries(keys)
      .filter(([key]) => isAllowed(permissions, key))
      .map(([value, text]) => ({ value, label: text })),
  }));
  const reading = mine.flatMap(({ items }) =>
    items.map(({ value }) => value).filter((key) => /\.(view|export|ea_dashboard|portfolio)$/.test(key)),
  );
  const scopes: Record<Range, string[]> = { read: reading, all: ['*'], chosen };
  const form = useSubmit(
    () =>
      call(
        createToken({
          body: {
            name,
            scopes: scopes[range],
            expires_at: new Date(Date.now() + days * DAY_MS).toISOString(),
          },
        }),
      ),
    async ({ token }) => {
      await queryClient.invalidateQueries({ queryKey: tokensQuery.queryKey });
      onDone(token);
    },
  );
  return (
    <form className={styles.setup} onSubmit={form.submit}>
      <TextInput
        label={t('field.name')}
        description={t('tokens.nameHelp')}
        required
        withAsterisk={false}
        data-autofocus
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={form.errorOf('name')}
      />
      <NumberInput
        label={t('tokens.days')}
        min={1}
        value={days}
        onChange={(value) => setDays(Number(value))}
        error={form.errorOf('expires_at')}
      />
      <SegmentedControl
        size="xs"
        aria-label={t('tokens.scopes')}
        value={range}
        onChange={(value) => setRange(value as Range)}
        data={[
          { value: 'read', label: t('tokens.read') },
          { value: 'all', label: t('tokens.all') },
          { value: 'chosen', label: t('tokens.chosen') },
        ]}
      />
      {range === 'chosen' && (
        <MultiSelect
          label={t('tokens.scopes')}
          searchable
          data={mine.filter(({ items }) => items.length > 0)}
          value={chosen}
          onChange={setChosen}
          error={form.errorOf('scopes')}
        />
      )}
      {form.failure && <p role="alert">{form.failure}</p>}
      <Button type="submit" loading={form.isBusy} disabled={name === '' || scopes[range].length === 0}>
        {t('tokens.create')}
      </Button>
    </form>
  );
}
