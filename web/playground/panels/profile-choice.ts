/** The choice of the profile whose kinds the page knows. The page loads again, because every part of it depends on the schema. */
import { createElement as h, type ReactElement } from 'react';

interface ProfileChoiceProps {
  readonly profiles: readonly string[];
  /** Null: all kinds. */
  readonly chosen: string | null;
}

export function ProfileChoice({ profiles, chosen }: ProfileChoiceProps): ReactElement {
  const names = chosen === null || profiles.includes(chosen) ? profiles : [chosen, ...profiles];
  const choose = (name: string): void => {
    const page = new URL(location.href);
    if (name === '') page.searchParams.delete('profile');
    else page.searchParams.set('profile', name);
    location.assign(page);
  };
  return h(
    'select',
    {
      'aria-label': 'Profile',
      value: chosen ?? '',
      onChange: ({ target }: { target: HTMLSelectElement }) => choose(target.value),
    },
    h('option', { value: '' }, 'All kinds'),
    ...names.map((name) => h('option', { key: name, value: name }, name)),
  );
}
