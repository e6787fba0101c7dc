import { useCallback, useEffect, useRef, useState } from 'react';
import { type UrlState, useUrlState } from '../../app/url-state';
import { addressTextOf } from './address-text';

export const STRATEGIES = ['enqueue', 'reject', 'interrupt', 'rollback'] as const;
const TYPING_MS = 300;

export interface RunOptions {
  strategy: (typeof STRATEGIES)[number];
  /** The `configurable` of the next runs. */
  config: unknown;
  context: unknown;
}

function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const optionsOf = ({ strategy, config, context }: UrlState): RunOptions => ({
  strategy: STRATEGIES.find((each) => each === strategy) ?? STRATEGIES[0],
  config: parsed(config),
  context: parsed(context),
});

const stateOf = ({ strategy, config, context }: RunOptions): UrlState => ({
  strategy: strategy === STRATEGIES[0] ? undefined : strategy,
  config: addressTextOf(config),
  context: addressTextOf(context),
});

const keyOf = (state: UrlState): string => JSON.stringify([state.strategy, state.config, state.context]);

/** Options of the next runs, which the address has as well, but for secrets: a change is there after a pause in typing. */
export function useRunOptions(): [RunOptions, (options: RunOptions) => void] {
  const [state, setState] = useUrlState();
  const [options, setOptions] = useState(() => optionsOf(state));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const addressed = keyOf(state);
  const written = useRef(addressed);

  // A link or the history of the browser has changed the address.
  useEffect(() => {
    if (addressed === written.current) return;
    written.current = addressed;
    clearTimeout(timer.current);
    setOptions(optionsOf(state));
  }, [addressed, state]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const change = useCallback(
    (next: RunOptions): void => {
      setOptions(next);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        const change = stateOf(next);
        written.current = keyOf(change);
        setState(change);
      }, TYPING_MS);
    },
    [setState],
  );
  return [options, change];
}
