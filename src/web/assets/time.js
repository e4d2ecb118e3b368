// Durations in a short form.

export function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 172800) return `${Math.floor(s / 3600)} h`;
  if (s < 5184000) return `${Math.floor(s / 86400)} d`;
  return `${Math.floor(s / 2592000)} mo`;
}

export function since(stamp) {
  return span((Date.now() - Date.parse(stamp)) / 1000);
}

export function between(from, to) {
  return span((Date.parse(to) - Date.parse(from)) / 1000);
}

export function day(stamp) {
  return new Date(stamp).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
