import { Alert, Button, Checkbox, Group, Radio, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import {
  answer,
  archiveCard,
  call,
  deleteCard,
  type ReadCardArchiveImpactResponse,
  readCardArchiveImpact,
} from '#client';
import { Dialog } from '../../kit/Dialog.tsx';
import { useSubmit } from '../../kit/forms.ts';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import styles from './card.module.css';
import { useCard } from './context.tsx';

/** More cards than this are only removed after the name was typed. */
const MANY = 10;

type Strategy = 'cascade' | 'disconnect' | 'reparent';

interface RemoveDialogProps {
  how: 'archive' | 'delete';
  onClose(): void;
}

/** Archives or deletes the card, after what that affects was shown and chosen. */
export function RemoveDialog({ how, onClose }: RemoveDialogProps) {
  const t = useTexts();
  const { card } = useCard();
  const { data: impact } = useQuery({
    queryKey: ['card', card.id, 'impact'],
    queryFn: ({ signal }) => call(readCardArchiveImpact({ signal, path: { id: card.id } })),
    staleTime: 0,
  });
  return (
    <Dialog onClose={onClose} title={t(`card.${how}Title`, { name: card.name })} size="md">
      {impact ? <RemoveForm how={how} onClose={onClose} impact={impact} /> : <p>{t('state.loading')}</p>}
    </Dialog>
  );
}

function RemoveForm({ how, onClose, impact }: RemoveDialogProps & { impact: ReadCardArchiveImpactResponse }) {
  const t = useTexts();
  const navigate = useNavigate();
  const { card, act } = useCard();
  const [strategy, setStrategy] = useState<Strategy>('disconnect');
  const [also, setAlso] = useState<string[]>([]);
  const [typed, setTyped] = useState('');
  const count = 1 + also.length + (strategy === 'cascade' ? impact.descendant_count : 0);
  const mustType = how === 'delete' || count > MANY;
  const submit = useSubmit(
    async () => {
      const body = {
        ...(impact.child_count > 0 && { child_strategy: strategy }),
        related_card_ids: also,
      };
      const options = { path: { id: card.id }, body };
      await act(t(`card.${how}Done`, { count }), async () => {
        const { headers } = await (how === 'archive'
          ? answer<unknown>(archiveCard(options))
          : answer<unknown>(deleteCard(options)));
        if (how === 'delete') await navigate({ to: '/inventory', search: { type: card.type } });
        return headers;
      });
    },
    () => onClose(),
  );
  const approved = strategy === 'disconnect' ? 0 : impact.approved_descendant_count;
  return (
    <form onSubmit={submit.submit}>
      <Stack gap="md">
        {impact.child_count > 0 && (
          <Radio.Group
            label={t('card.childrenOf', { count: impact.child_count })}
            value={strategy}
            onChange={(value) => setStrategy(value as Strategy)}
          >
            <Stack gap={6} mt={6}>
              <Radio
                size="xs"
                value="disconnect"
                label={t('card.childrenDisconnect', { count: impact.child_count })}
              />
              {impact.grandparent && (
                <Radio
                  size="xs"
                  value="reparent"
                  label={t('card.childrenReparent', { name: impact.grandparent.name })}
                />
              )}
              <Radio
                size="xs"
                value="cascade"
                label={t(`card.${how}Children`, { count: impact.descendant_count })}
              />
            </Stack>
          </Radio.Group>
        )}
        {impact.child_count > 0 && approved > 0 && (
          <Alert color="yellow">{t('card.approvedChildren', { count: approved })}</Alert>
        )}
        {impact.related_cards.length > 0 && (
          <Checkbox.Group label={t(`card.${how}Related`)} value={also} onChange={setAlso}>
            <div className={styles.choices}>
              {impact.related_cards.map(({ id, name, type, relation_id, relation_label }) => (
                <Checkbox
                  key={relation_id}
                  value={id}
                  label={
                    <span className={styles.choice}>
                      <TypeMark type={type} size={18} /> {name}{' '}
                      <span className="secondary">{relation_label}</span>
                    </span>
                  }
                />
              ))}
            </div>
          </Checkbox.Group>
        )}
        {impact.related_count > impact.related_cards.length && (
          <p className="secondary">
            {t('facets.more', { count: impact.related_count - impact.related_cards.length })}
          </p>
        )}
        {how === 'delete' && <Alert color="red">{t('card.deleteHelp')}</Alert>}
        {mustType && (
          <TextInput
            label={t('card.typeName', { name: card.name })}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            data-autofocus
          />
        )}
        {submit.reason && (
          <p className={styles.failure} role="alert">
            {submit.reason}
          </p>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('action.cancel')}
          </Button>
          <Button
            type="submit"
            color="red"
            loading={submit.isBusy}
            disabled={mustType && typed.trim() !== card.name}
          >
            {t(`card.${how}Cards`, { count })}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
