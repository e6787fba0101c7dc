/** Progress from 0 to `of`. */
export function ProgressBar({ value, of, label }: { value: number; of: number; label: string }) {
  const done = of > 0 ? Math.min(value / of, 1) : 0;
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={of}
      aria-valuenow={value}
      className="h-1.5 w-full overflow-hidden rounded-full bg-hover"
    >
      <div className="h-full rounded-full bg-accent-fill" style={{ width: `${done * 100}%` }} />
    </div>
  );
}
