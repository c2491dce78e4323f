import { Button, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type CreateUserResponse, call, createUser } from '#client';
import { isAllowed, useMe } from '../shell/queries.ts';
import { Dialog } from './Dialog.tsx';
import { useSubmit } from './forms.ts';
import { useTexts } from './messages.tsx';
import { rolesQuery } from './people.ts';

/** Roles that whoever may invite may give. */
const ORDINARY = ['member', 'viewer'];

interface InviteDialogProps {
  /** What was searched for: a name or a mail address. */
  searched: string;
  /** The person is invited, and the dialog has no more to say. */
  onInvited(person: { id: string; display_name: string; email: string }): void;
  onClose(): void;
}

/** Invites a person who has no account yet; without mail, the link to pass on is shown. */
export function InviteDialog({ searched, onInvited, onClose }: InviteDialogProps) {
  const t = useTexts();
  const client = useQueryClient();
  const { permissions } = useMe();
  const isMail = searched.includes('@');
  const [email, setEmail] = useState(isMail ? searched : '');
  const [name, setName] = useState(isMail ? nameIn(searched) : searched);
  const [role, setRole] = useState('member');
  const [isMailed, setMailed] = useState(true);
  const [done, setDone] = useState<CreateUserResponse>();
  const { data: roles } = useQuery(rolesQuery);
  const offered = (roles?.items ?? []).filter(
    ({ key }) => isAllowed(permissions, 'admin.users') || ORDINARY.includes(key!),
  );
  const form = useSubmit(
    () => call(createUser({ body: { email, display_name: name, role, send_email: isMailed } })),
    (made) => {
      void client.invalidateQueries({ queryKey: ['users'] });
      void client.invalidateQueries({ queryKey: ['people'] });
      if (made.setup_link || made.setup_missing) setDone(made);
      else onInvited(made);
    },
  );
  if (done) return <Handover person={done} onClose={() => onInvited(done)} />;
  return (
    <Dialog title={t('invite.title')} onClose={onClose}>
      <form
        onSubmit={(event) => {
          // not of a form around the picker
          event.stopPropagation();
          void form.submit(event);
        }}
      >
        <Stack gap="sm">
          <TextInput
            required
            data-autofocus
            type="email"
            label={t('login.email')}
            value={email}
            error={form.errorOf('email')}
            onChange={(event) => setEmail(event.target.value)}
          />
          <TextInput
            required
            label={t('field.name')}
            value={name}
            error={form.errorOf('display_name')}
            onChange={(event) => setName(event.target.value)}
          />
          <Select
            label={t('profile.role')}
            allowDeselect={false}
            value={role}
            data={offered.map(({ key, label }) => ({ value: key!, label: label! }))}
            error={form.errorOf('role')}
            onChange={(value: string | null) => setRole(value ?? role)}
          />
          <Switch
            size="xs"
            label={t('invite.mail')}
            checked={isMailed}
            onChange={(event) => setMailed(event.target.checked)}
          />
          {form.failure && <Text c="red">{form.failure}</Text>}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={form.isBusy}>
              {t('invite.submit')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** What to pass on to a person who gets no mail. */
function Handover({ person, onClose }: { person: CreateUserResponse; onClose(): void }) {
  const t = useTexts();
  const { display_name, setup_link, setup_missing } = person;
  const link = setup_link && new URL(setup_link, window.location.origin).href;
  return (
    <Dialog title={t('invite.done', { name: display_name })} onClose={onClose}>
      <Stack gap="sm">
        {link ? (
          <TextInput
            readOnly
            label={t('invite.passOn')}
            value={link}
            onFocus={(event) => event.target.select()}
          />
        ) : (
          <Text size="sm">{setup_missing}</Text>
        )}
        <Group justify="flex-end">
          {link && (
            <Button variant="default" onClick={() => void navigator.clipboard.writeText(link)}>
              {t('action.copy')}
            </Button>
          )}
          <Button onClick={onClose}>{t('action.close')}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** The name that a mail address suggests: `ada.owner@…` is Ada Owner. */
const nameIn = (email: string): string =>
  email
    .split('@')[0]!
    .split(/[._-]+/)
    .filter(Boolean)
    .map((part) => part[0]!.toUpperCase() + part.slice(1))
    .join(' ');
