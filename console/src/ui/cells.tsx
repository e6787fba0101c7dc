import { dollars, short } from './numbers';
import { Status } from './status';
import { Time } from './time';

/** Renderers for cells of lists, used as `cell: statusCell`. */
interface Context<Value> {
  getValue: () => Value;
}

export const statusCell = ({ getValue }: Context<string>) => <Status status={getValue()} />;
export const timeCell = ({ getValue }: Context<string | Date | null | undefined>) => <Time at={getValue()} />;
export const errorCell = ({ getValue }: Context<string | null | undefined>) => (
  <span className="text-bad">{getValue()?.split('\n')[0]}</span>
);
export const shortCell = ({ getValue }: Context<number>) => <span className="tabular-nums">{short(getValue())}</span>;
export const dollarsCell = ({ getValue }: Context<string | number | null>) => (
  <span className="tabular-nums">{dollars(getValue())}</span>
);
