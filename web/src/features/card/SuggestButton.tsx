import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { call, readAiStatus } from '#client';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { isAllowed, useMe } from '../../shell/queries.ts';
import { useCard } from './context.tsx';

const SuggestDialog = lazy(async () => ({ default: (await import('./SuggestDialog.tsx')).SuggestDialog }));

/** Asks a language model for values, where the workspace has one for cards of this type. */
export function SuggestButton() {
  const t = useTexts();
  const { card, can } = useCard();
  const { permissions } = useMe();
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({
    queryKey: ['ai', 'status'],
    queryFn: ({ signal }) => call(readAiStatus({ signal })),
    enabled: can('edit') && isAllowed(permissions, 'ai.suggest'),
  });
  if (!data?.enabled || !data.configured || !data.enabled_types.includes(card.type)) return null;
  return (
    <>
      <Button
        variant="default"
        size="compact-xs"
        leftSection={<Icon name="bolt" size={14} />}
        onClick={() => setOpen(true)}
      >
        {t('suggest.open')}
      </Button>
      {isOpen && (
        <Suspense>
          <SuggestDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
